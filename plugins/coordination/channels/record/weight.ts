/** About how many bytes a message takes, without writing it down: for work that is done in portions. */
import type { MessageRecord } from './record.js'

/** Most bytes of metadata, and of all that is not said. */
const [mostMetadata, rest] = [65_536, 1_024]

export const weightOf = ({ output: { content, parts }, metadata }: MessageRecord): number => {
  const words = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), content.length)
  return words + rest + (metadata === undefined ? 0 : mostMetadata)
}
