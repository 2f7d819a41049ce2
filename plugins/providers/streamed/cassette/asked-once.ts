/** Exchanges whose answer comes as a whole, such as a picture: recorded and played as streams are. */
import { isUtf8 } from 'node:buffer'
import { digestBytes, type Json, type Outbound, type OutboundAnswer } from '../../../../core/plugin.js'
import type { Exchange } from './format.js'
import { answerHeaders, maskedBody, maskedJson, maskedPath, requestHeaders, type Redact } from './mask.js'
import type { Recorder } from './record.js'

/** Asks once; see `Outbound`. */
export type Ask = Outbound['request']
type Request = Parameters<Ask>[0]

/** Files go by their digest: who plays a cassette has them, or has others. */
const formOf = async (body: Uint8Array, type: string): Promise<Json> => {
  const form: Json[] = []
  for (const [name, value] of await new Response(Buffer.from(body), { headers: { 'content-type': type } }).formData())
    if (typeof value === 'string') form.push({ name, value })
    else {
      const sha256 = await digestBytes(Buffer.from(await value.arrayBuffer()))
      form.push({ name, file_name: value.name, media_type: value.type, byte_length: value.size, sha256 })
    }
  return { form }
}

const bodyOf = async ({ method, headers = {}, body }: Request): Promise<Json> => {
  if (body === undefined) return { method }
  const type = headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) return formOf(Buffer.from(body), type)
  const asked: Json = JSON.parse(Buffer.from(body).toString('utf8'))
  return asked
}

/** What is asked, and where, without secrets. */
export const foundOf = async (request: Request, redact: Redact) => {
  const { pathname, search } = new URL(request.url)
  return { at: maskedPath(`${pathname}${search}`, redact), asked: maskedJson(await bodyOf(request), redact) }
}

type Said = Pick<Exchange, 'answer' | 'end' | 'encoding'>

/** Sound and pictures are no text: a secret in them is in no piece that could be taken out. */
const saidIn = (body: Uint8Array, redact: Redact): Said => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (isUtf8(bytes)) {
    const text = maskedBody(bytes.toString('utf8'), redact)
    return text === undefined ? { answer: [], end: 'withheld' } : { answer: [text], end: 'whole' }
  }
  const letters = bytes.toString('latin1')
  if (redact(letters) !== letters) return { answer: [], end: 'withheld' }
  return { answer: [bytes.toString('base64')], end: 'whole', encoding: 'base64' }
}

export const recordedAsk =
  (ask: Ask, { add, redact }: Recorder): Ask =>
  async (request) => {
    const came = await ask(request)
    // A server that was not reached said nothing that could be played.
    if (came.type === 'failure') return came
    const { at: path, asked } = await foundOf(request, redact)
    add({
      path,
      headers: requestHeaders(Object.entries(request.headers ?? {}).flat(), redact),
      request: asked,
      status: came.status,
      answer_headers: answerHeaders(came.headers, redact),
      ...saidIn(came.body, redact),
    })
    return came
  }

/** A recorded answer as it came. */
export const cameBack = ({ status, answer_headers: headers, answer, encoding }: Exchange): OutboundAnswer => ({
  type: 'answer',
  status,
  headers,
  body: Buffer.concat(answer.map((piece) => Buffer.from(piece, encoding ?? 'utf8'))),
})
