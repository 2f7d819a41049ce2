/** The bytes of an answer up to a bound, decompressed, and no more of it. */
import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { fault, type OutboundCode } from '../../../core/plugin.js'
import { webErrors } from './errors.js'

export interface Body {
  readonly bytes: Buffer
  /** There was more. */
  readonly isCut: boolean
}

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}
/** What is asked for. */
export const knownEncodings = 'gzip, deflate, br'

/** More came than is read, or than waits to be read. */
const tooLarge: OutboundCode = 'outbound_answer_too_large'

/** A compressed body may go on for ever and be nothing: what comes is counted as well as what it becomes. */
async function* upTo(source: ReadableStream<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  const reader = source.getReader()
  // What cannot be compressed becomes a little longer by it.
  let left = most + most / 64 + 1_024
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
      left -= value.length
      if (left < 0) throw fault(tooLarge)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The name of an encoding is short; anything else is a text of the host's. */
const told = (encoding: string): string => (/^[a-z][a-z-]{0,15}$/u.test(encoding) ? encoding : 'something else')

const isData = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(?:Z_|ERR__ERROR|ERR_BROTLI)/u.test(String(error.code))

/** Reads to the end or to the bound; the connection of what is left is closed. */
export const readBody = async (
  source: ReadableStream<Uint8Array>,
  { encoding, most }: { readonly encoding: string; readonly most: number },
): Promise<Body> => {
  const raw = upTo(source, most)
  const decoder = encoding === '' || encoding === 'identity' ? undefined : decoders[encoding]
  if (decoder === undefined && encoding !== '' && encoding !== 'identity') {
    await source.cancel()
    throw webErrors.web_encoding_refused({ details: { encoding: told(encoding) } })
  }
  const stream = decoder === undefined ? raw : pipeline(Readable.from(raw), decoder(), () => undefined)
  try {
    return await gather(stream, most)
  } catch (error) {
    if (isData(error)) throw webErrors.web_encoding_refused({ details: { encoding: told(encoding) }, cause: error })
    throw error
  }
}

const isFlood = (error: unknown): boolean => error instanceof Error && error.message === tooLarge

const gather = async (stream: AsyncIterable<Uint8Array>, most: number): Promise<Body> => {
  const chunks: Uint8Array[] = []
  let [length, isCut] = [0, false]
  try {
    for await (const chunk of stream) {
      chunks.push(chunk)
      length += chunk.length
      if (length > most) break
    }
  } catch (error) {
    if (!isFlood(error)) throw error
    isCut = true
  }
  return { bytes: Buffer.concat(chunks).subarray(0, most), isCut: isCut || length > most }
}
