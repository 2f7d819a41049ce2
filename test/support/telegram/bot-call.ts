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

type Form = Pick<BotCall, 'fields' | 'files'>

const cutAt = (bytes: Buffer, mark: string): Buffer[] => {
  const pieces: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, from)) {
    pieces.push(bytes.subarray(from, at))
    from = at + Buffer.byteLength(mark)
  }
  return [...pieces, bytes.subarray(from)]
}

/** As strictly as clients need it: each part has a head of lines and a body, both ended as they must be. */
const multipartOf = (boundary: string, body: Buffer): Form => {
  const fields: Record<string, unknown> = {}
  const files: Record<string, SentFile> = {}
  for (const piece of cutAt(body, `--${boundary}`).slice(1, -1)) {
    const at = piece.indexOf('\r\n\r\n')
    const head = piece.subarray(0, at).toString()
    const bytes = piece.subarray(at + 4, -2)
    const name = /;\s*name="([^"]*)"/iu.exec(head)?.[1] ?? ''
    const file_name = /;\s*filename="?([^";\r\n]*)/iu.exec(head)?.[1]
    const media_type = /^content-type:\s*(\S+)/imu.exec(head)?.[1] ?? ''
    if (file_name === undefined) fields[name] = readValue(bytes.toString())
    else files[name] = { file_name, media_type, bytes: Buffer.from(bytes) }
  }
  return { fields, files }
}

const partsOf = (type: string, body: Buffer): Form => {
  if (type.startsWith('application/json')) return { fields: JSON.parse(body.toString()), files: {} }
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)/iu.exec(type)?.[1]
  if (boundary !== undefined) return multipartOf(boundary, body)
  if (type.startsWith('application/x-www-form-urlencoded')) {
    const values = [...new URLSearchParams(body.toString())].map(([name, value]) => [name, readValue(value)] as const)
    return { fields: Object.fromEntries(values), files: {} }
  }
  return { fields: {}, files: {} }
}

const pathPattern = /^\/(?<file>file\/)?bot(?<token>[^/]+)\/(?<rest>.+)$/u

export const readCall = async (request: IncomingMessage): Promise<BotCall> => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const { file, token = '', rest = '' } = pathPattern.exec(pathname)?.groups ?? {}
  const { fields, files } = partsOf(request.headers['content-type'] ?? '', await bodyOf(request))
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
