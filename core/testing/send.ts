/** Requests of a test to its daemon. */
import { request as httpRequest } from 'node:http'

/** The headers of a request or an answer. */
export type Headers = Readonly<Record<string, string>>
/** What a daemon answered. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed JSON; undefined if the answer is none. */
  readonly body: any
}
/** Sends a request; `body` becomes JSON, a text is sent as it is. */
export type Ask = (method: string, path: string, body?: unknown, headers?: Headers) => Promise<Answer>

export interface Sent {
  readonly method: string
  readonly body: unknown
  readonly headers: Headers
}

export const send = (url: string, { method, body, headers }: Sent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const type =
      payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }
    const outgoing = httpRequest(url, { method, headers: { ...type, ...headers }, agent: false }, (incoming) => {
      const chunks: Buffer[] = []
      incoming
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('error', reject)
        .on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const got = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
          resolve({
            status: incoming.statusCode ?? 0,
            headers: got,
            text,
            body: /json/u.test(got['content-type'] ?? '') && text !== '' ? JSON.parse(text) : undefined,
          })
        })
    })
    outgoing.on('error', reject).end(payload)
  })
