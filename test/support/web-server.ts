/** A web server on the loopback address whose pages a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import type { Secrets } from '../../core/plugin.js'

export type Page = (request: IncomingMessage, response: ServerResponse) => void

export interface WebServer {
  readonly port: number
  readonly origin: string
  /** Requests in order, with their path and query. */
  readonly asked: string[]
  /** What a path answers from now on. */
  on(path: string, page: Page): void
}

export const startWebServer = async (t: ExecutionContext<any>): Promise<WebServer> => {
  const asked: string[] = []
  const pages = new Map<string, Page>()
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const page = pages.get((request.url ?? '').split('?')[0] ?? '')
    if (page !== undefined) return page(request, response)
    response.writeHead(404).end('nothing here')
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, origin: `http://127.0.0.1:${port}`, asked, on: (path, page) => void pages.set(path, page) }
}

/** A page of one type and text. */
export const sends =
  (type: string, body: string | Uint8Array, headers: Record<string, string> = {}): Page =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': type, ...headers }).end(body)

/** What a daemon with one secret takes out of texts. */
export const secretsWith = (value: string): Pick<Secrets, 'redact' | 'redacting'> => {
  const redact = (text: string): string => text.replaceAll(value, '[redacted]')
  return {
    redact,
    *redacting(text) {
      yield
      return redact(text)
    },
  }
}
