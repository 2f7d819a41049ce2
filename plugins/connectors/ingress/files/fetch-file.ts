/** A file of a platform, by its address: no redirects, no proxy, and never more than 12 MiB of it (ingress-16). */
import { assertNever, retryAfter, type Clock, type Outbound, type OutboundCode } from '../../../../core/plugin.js'
import type { FetchedFile } from '../../registry/contract.js'
import { fileNameOf } from './file-name.js'

/** Most bytes of a file. */
export const mostFileBytes = 12 * 1024 * 1024
/** From the lookup of the name to the last byte. */
export const fileTimeoutMs = 15_000

/** Which file is wanted, and what is known of it. */
export interface FileWish {
  readonly url: string
  /** Such as the authorization; never told to anybody. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the platform says it is; what the answer says when absent. */
  readonly media_type?: string | undefined
  /** What the platform calls it; the last part of the path when absent. */
  readonly file_name?: string | undefined
  /** What the platform says it weighs, in bytes: one that is too large is not asked for. */
  readonly size?: number | undefined
  readonly allow_cidrs?: readonly string[]
  readonly allow_private_network?: boolean
  readonly signal: AbortSignal
}

const refused = (cause: string): FetchedFile => ({ type: 'refused', cause })
const retry = (cause: string, retry_after_ms?: number): FetchedFile => ({
  type: 'retry',
  cause,
  ...(retry_after_ms !== undefined && { retry_after_ms }),
})
const tooLarge = 'it has more than 12 MiB'

const typeOf = (declared: string | undefined, header: string | undefined): string => {
  const type = (declared ?? header ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[a-z0-9][\w.+-]{0,100}\/[a-z0-9][\w.+-]{0,90}$/u.test(type) ? type : 'application/octet-stream'
}

/** Never rejects. Causes tell neither the address nor a credential. */
export const fetchFile = async (
  outbound: Outbound,
  wish: FileWish,
  clock: Pick<Clock, 'now'>,
): Promise<FetchedFile> => {
  const { url, headers = {}, media_type, file_name, size, signal, ...reach } = wish
  if (size !== undefined && size > mostFileBytes) return refused(tooLarge)
  const answer = await outbound.request({
    method: 'GET',
    url,
    headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'holdfast', ...headers },
    max_answer_bytes: mostFileBytes,
    timeout_ms: fileTimeoutMs,
    signal,
    ...reach,
  })
  if (answer.type === 'failure') return failed(answer.code)
  const { status, body } = answer
  if (status === 429) return retry('its server has no time', retryAfter(answer.headers['retry-after'], clock.now()))
  if (status >= 500 || status === 408 || status === 425) return retry('its server fails')
  if (status >= 300 && status < 400) return refused('it is somewhere else')
  if (status !== 200) return refused(`its server answers ${status}`)
  if (body.length === 0) return refused('it is empty')
  const named = {
    file_name: fileNameOf(file_name, url),
    media_type: typeOf(media_type, answer.headers['content-type']),
  }
  return { type: 'file', file: { ...named, bytes: body } }
}

const failed = (code: OutboundCode): FetchedFile => {
  switch (code) {
    case 'outbound_url_invalid':
    case 'outbound_request_invalid':
    case 'outbound_address_refused':
      return refused('its address is none that may be asked')
    case 'outbound_answer_too_large':
      return refused(tooLarge)
    case 'outbound_certificate_refused':
    case 'outbound_name_not_found':
    case 'outbound_connection_failed':
    case 'outbound_connection_broken':
      return retry('its server cannot be reached')
    case 'outbound_timed_out':
    case 'outbound_aborted':
      return retry('it did not come in time')
    default:
      return assertNever(code)
  }
}
