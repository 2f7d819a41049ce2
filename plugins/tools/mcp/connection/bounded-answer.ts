/** Answers over HTTP, bounded as messages of programs are: a whole body, and of a stream each event. */
import { fault } from '../../../../core/plugin.js'

/** Most bytes of a body, or of one event of a stream. */
const mostBytes = 16 * 1024 * 1024

/** What follows the last empty line of a chunk; all of it if there is none. */
const restOf = (chunk: Uint8Array): number => {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const end = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'))
  return end < 0 ? -1 : chunk.byteLength - end
}

const bounding = (isStream: boolean): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      const rest = isStream ? restOf(chunk) : -1
      bytes = rest < 0 ? bytes + chunk.byteLength : rest
      if (bytes > mostBytes) controller.error(fault('it sent a message of more than 16 MiB'))
      else controller.enqueue(chunk)
    },
  })
}

/** The same answer with a body that errors where it is too long. */
export const boundedAnswer = (answer: Response): Response => {
  if (answer.body === null) return answer
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  const { status, headers } = answer
  return new Response(answer.body.pipeThrough(bounding(isStream)), { status, headers })
}
