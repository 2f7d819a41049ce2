/** A server that is asked to write speech down: it takes the forms of `POST /v1/audio/transcriptions`. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

export interface AskedSound {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Text fields, each with all its values. */
  readonly fields: Readonly<Record<string, string[]>>
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer }
}
export interface TranscriptionServer {
  readonly base_url: string
  readonly asked: AskedSound[]
  /** How requests are answered from now on. */
  answer(how: (asked: AskedSound, response: ServerResponse) => void | Promise<void>): void
  /** Requests whose connection the other side ended before they were answered. */
  readonly left: { count: number }
}

/** The form as the platform reads it: independent of how it was written. */
const read = async (type: string, body: Buffer): Promise<Pick<AskedSound, 'fields' | 'file'>> => {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  const fields: Record<string, string[]> = {}
  let file: AskedSound['file'] = { name: '', type: '', bytes: Buffer.alloc(0) }
  for (const [name, value] of form)
    if (typeof value === 'string') (fields[name] ??= []).push(value)
    else file = { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) }
  return { fields, file }
}

export const saying =
  (text: string, more: object = {}) =>
  (_: AskedSound, response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ text, ...more }))
  }

export const startTranscriptionServer = async (t: ExecutionContext<any>): Promise<TranscriptionServer> => {
  const asked: AskedSound[] = []
  const left = { count: 0 }
  let how: (asked: AskedSound, response: ServerResponse) => void | Promise<void> = saying('Hello.')
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    response.on('close', () => {
      if (!response.writableFinished) left.count += 1
    })
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const take = async (): Promise<void> => {
        const { url: path = '', headers } = request
        const one = { path, headers, ...(await read(headers['content-type'] ?? '', Buffer.concat(pieces))) }
        asked.push(one)
        await how(one, response)
      }
      void take().catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { base_url, asked, left, answer: (next) => void (how = next) }
}
