/** A request to a Bot API, in whichever of its forms it came. */
import type { IncomingMessage } from 'node:http'

export interface SentFile {
  readonly file_name: string
  readonly media_type: string
  readonly bytes: Buffer
}

export interface BotCall {
  readonly token: string
  /** In the spelling of the documentation, or `file` for a download. */
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** What is JSON is read. */
  readonly fields: Record<string, any>
  readonly files: Record<string, SentFile>
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const isJson = /^(?:-?\d+|true|false|null|[[{].*)$/su
const readValue = (text: string): unknown => {
  if (!isJson.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const formOf = async (type: string, body: Buffer): Promise<Pick<BotCall, 'fields' | 'files'>> => {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  const fields: Record<string, unknown> = {}
  const files: Record<string, SentFile> = {}
  for (const [name, value] of form)
    if (typeof value === 'string') fields[name] = readValue(value)
    else
      files[name] = {
        file_name: value.name,
        media_type: value.type,
        bytes: Buffer.from(await value.arrayBuffer()),
      }
  return { fields, files }
}

const partsOf = async (type: string, body: Buffer): Promise<Pick<BotCall, 'fields' | 'files'>> => {
  if (type.startsWith('application/json')) return { fields: JSON.parse(body.toString()), files: {} }
  if (type.startsWith('multipart/') || type.startsWith('application/x-www-form-urlencoded'))
    return await formOf(type, body)
  return { fields: {}, files: {} }
}

const pathPattern = /^\/(?<file>file\/)?bot(?<token>[^/]+)\/(?<rest>.+)$/u

export const readCall = async (request: IncomingMessage): Promise<BotCall> => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const { file, token = '', rest = '' } = pathPattern.exec(pathname)?.groups ?? {}
  const { fields, files } = await partsOf(request.headers['content-type'] ?? '', await bodyOf(request))
  const query = Object.fromEntries([...searchParams].map(([name, value]) => [name, readValue(value)]))
  return {
    token: decodeURIComponent(token),
    method: file === undefined ? rest : 'file',
    path: pathname,
    headers: request.headers,
    fields: { ...query, ...fields },
    files,
  }
}
