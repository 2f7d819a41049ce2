/** Routes with a check of their own (http-40): whom one lets in is known before its body is read. */
import type { IncomingMessage } from 'node:http'
import { Problem } from '../../base/errors.js'
import type { Admitted, IngressHead, Route } from '../routes/route.js'
import type { Auth } from './auth.js'

const headOf = (request: IncomingMessage, params: unknown): IngressHead<unknown> => ({
  params,
  method: request.method ?? '',
  target: request.url ?? '',
  header: (name) => request.headersDistinct[name.toLowerCase()] ?? [],
  remote_addr: request.socket.remoteAddress ?? null,
})

/** What a route does not say that it answers is no stranger's matter, such as that a secret is missing. */
const isDeclared = (problem: Problem, { problems = [] }: Route): boolean =>
  problems.some(({ code }) => code === problem.code)

const isRefusal = (error: Problem): boolean => error.spec.status === 401 || error.spec.status === 403

/** Asks the check of a route; undefined for one that has none. Throws what that throws, or 429 behind too many. */
export const admitIngress = async (
  request: IncomingMessage,
  route: Route,
  { params, auth }: { readonly params: unknown; readonly auth: Pick<Auth, 'refuseIngress' | 'refuseUnready'> },
): Promise<Admitted<unknown> | undefined> => {
  const { id, ingress } = route
  if (ingress === undefined) return undefined
  const counted = (error: unknown): unknown => {
    if (!(error instanceof Problem)) return error
    if (!isDeclared(error, route)) return auth.refuseUnready(request, id, error)
    return isRefusal(error) ? auth.refuseIngress(request, id, error) : error
  }
  try {
    const { subject, verify } = await ingress(headOf(request, params))
    if (verify === undefined) return { subject }
    return {
      subject,
      verify: (body) => {
        try {
          verify(body)
        } catch (error) {
          throw counted(error)
        }
      },
    }
  } catch (error) {
    throw counted(error)
  }
}
