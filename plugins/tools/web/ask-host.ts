/** One GET under a deadline: its redirects on the same host, and its body up to a bound. */
import {
  outboundCodes,
  refusedUrl,
  type Clock,
  type Outbound,
  type OutboundFlow,
  type OutboundReach,
} from '../../../core/plugin.js'
import { knownEncodings, readBody, type Body } from './body.js'
import { webErrors } from './errors.js'

export interface HostWish extends OutboundReach {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Bytes of the body that are read. */
  readonly most: number
  readonly timeout_ms: number
  readonly signal: AbortSignal
  /** Whether it holds a stored secret, in whatever form: such a URL is not asked. */
  readonly holdsSecret: (url: string) => boolean
}

export type HostAnswer =
  | {
      readonly type: 'page'
      /** Where it was found at last. */
      readonly url: string
      readonly status: number
      readonly contentType: string
      readonly redirects: number
      readonly body: Body
    }
  | { readonly type: 'elsewhere'; readonly url: string; readonly status: number; readonly to: string }
  | { readonly type: 'refused'; readonly status: number; readonly headers: Readonly<Record<string, string>> }

const mostRedirects = 5
const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface HostParts {
  readonly outbound: Outbound
  readonly clock: Clock
}

/** Throws a problem of `webErrors`. No socket is open when it ends. */
export const askHost = async ({ outbound, clock }: HostParts, wish: HostWish): Promise<HostAnswer> => {
  const late = new AbortController()
  const cancel = clock.after(wish.timeout_ms, () => late.abort())
  try {
    return await follow(outbound, { ...wish, signal: AbortSignal.any([wish.signal, late.signal]) })
  } catch (error) {
    if (wish.signal.aborted) throw webErrors.web_stopped()
    if (late.signal.aborted) throw webErrors.web_not_reached({ details: { code: 'outbound_timed_out' } })
    throw broken(error) ?? error
  } finally {
    cancel()
  }
}

/** A body that ends early tells why as the message of its error. */
const broken = (error: unknown) => {
  const code = outboundCodes.find((one) => error instanceof Error && error.message === one)
  return code === undefined ? undefined : webErrors.web_not_reached({ details: { code }, cause: error })
}

const follow = async (outbound: Outbound, wish: HostWish): Promise<HostAnswer> => {
  let { url } = wish
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const refused = redirects === 0 ? webErrors.web_url_refused : webErrors.web_redirect_refused
    const answer = await ask(outbound, { ...wish, url, refused })
    const { status, headers } = answer
    const to = redirecting.has(status) ? targetOf(url, headers['location']) : undefined
    if (to === undefined) return page(answer, { url, redirects, most: wish.most })
    await answer.body.cancel()
    if (!isSameHost(url, to)) return { type: 'elsewhere', url, status, to }
    url = to
  }
  throw webErrors.web_redirected_too_often({ details: { limit: mostRedirects } })
}

type Head = Extract<OutboundFlow, { type: 'answer' }>

interface Question extends HostWish {
  /** Whoever named the URL is told why it is not asked. */
  readonly refused: typeof webErrors.web_url_refused
}

const ask = async (outbound: Outbound, question: Question): Promise<Head> => {
  const { url, headers, most, holdsSecret, refused, ...wish } = question
  if (holdsSecret(url)) throw webErrors.web_secret_refused()
  const rule = refusedUrl(url, wish)
  if (rule !== undefined) throw refused({ details: { rule } })
  const flow = await outbound.flow({
    ...wish,
    method: 'GET',
    url,
    headers: { ...headers, 'accept-encoding': knownEncodings },
    // What comes at once may be more than what is read.
    most_unread_bytes: most + 1024 * 1024,
  })
  if (flow.type === 'answer') return flow
  if (flow.code === 'outbound_address_refused')
    throw refused({ details: { rule: 'leads to a private, local or special address' } })
  throw webErrors.web_not_reached({ details: { code: flow.code } })
}

const page = async (
  { status, headers, body }: Head,
  { url, redirects, most }: { url: string; redirects: number; most: number },
): Promise<HostAnswer> => {
  if (status < 200 || status > 299) {
    await body.cancel()
    return { type: 'refused', status, headers }
  }
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  const read = await readBody(body, { encoding, most })
  return { type: 'page', url, status, contentType: headers['content-type'] ?? '', redirects, body: read }
}

const targetOf = (url: string, location: string | undefined): string | undefined => {
  if (location === undefined || !URL.canParse(location, url)) return undefined
  const target = new URL(location, url)
  target.hash = ''
  return target.href
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^www\./u, '')

/** A way from https to http, or to another port, leads to somebody else. */
const isSameHost = (from: string, to: string): boolean => {
  const [a, b] = [new URL(from), new URL(to)]
  const isUpgrade = a.protocol === 'http:' && b.protocol === 'https:' && a.port === '' && b.port === ''
  return hostOf(a) === hostOf(b) && (isUpgrade || (a.protocol === b.protocol && a.port === b.port))
}
