/** Reads the frames of an SSE stream. */
import type { Frame } from '../plugin/command.js'
import { errors } from './told/errors.js'

const largest = 1_048_576

const fieldOf = (line: string): readonly [string, string] => {
  const at = line.indexOf(':')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /u, '')]
}

/** One frame's lines; undefined for a comment. */
const readFrame = (block: string): Frame | undefined => {
  const fields = block.split('\n').map(fieldOf)
  const last = (name: string): string | undefined => fields.findLast(([field]) => field === name)?.[1]
  const data = fields
    .filter(([field]) => field === 'data')
    .map(([, value]) => value)
    .join('\n')
  const id = last('id')
  return data === ''
    ? undefined
    : { event: last('event') ?? 'message', ...(id !== undefined && { id }), data: JSON.parse(data) }
}

/** Ends quietly when the signal aborts. */
export async function* readFrames(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of body) {
      const blocks = (text + decoder.decode(bytes, { stream: true })).split('\n\n')
      text = blocks.pop() ?? ''
      if (text.length > largest || blocks.some((block) => block.length > largest)) throw errors.frame_too_large()
      for (const block of blocks) {
        const frame = readFrame(block)
        if (frame !== undefined) yield frame
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
