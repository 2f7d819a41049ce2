/** What a background command has put out, from its spool (tasks-6 to tasks-9). */
import type { Spools } from '../../../core/plugin.js'
import type { OutputWish, SessionTask, TaskOutput } from '../../execution/tasks/contract.js'

/** Nothing larger is ever kept. */
const whole = 8 * 1024 * 1024

/** Text without a character that is cut in two at the beginning. */
const textOf = (bytes: Uint8Array, cut: boolean): string => {
  let at = 0
  while (cut && at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1
  return Buffer.from(bytes.subarray(at)).toString('utf8')
}

/** Of an output that is gone nobody can say that it was empty. */
const nothing = ({ full }: OutputWish): TaskOutput => ({
  output_excerpt: '',
  ...(full && { output_text: '' }),
  output_truncated: true,
  output_size_bytes: 0,
  output_total_bytes: 0,
  output_rotated: false,
  output_rotation_count: 0,
})

/** After a rotation the text begins with a line that says what is missing before it. */
const fullText = (bytes: Uint8Array, { dropped, rotated }: { dropped: number; rotated: boolean }): string =>
  `${rotated ? `[daemon: the first ${dropped} bytes of the output are not kept]\n` : ''}${textOf(bytes, rotated)}`

/** What a full disk kept out of the spool to its end is on record with the task alone. */
const lostOf = ({ metadata = {} }: SessionTask, lost: number): number => {
  const { output_lost_bytes: known } = metadata
  return typeof known === 'number' ? Math.max(known, lost) : lost
}

export const backgroundOutput = (spools: Spools, task: SessionTask, wish: OutputWish): TaskOutput => {
  const reading = spools.read(task.id, wish.full ? whole : wish.tail_bytes)
  if (reading === undefined) return nothing(wish)
  const {
    account: { kept, rotations, ...account },
    bytes,
    path,
  } = reading
  const dropped = account.total - kept - account.lost
  const total = dropped + kept + lostOf(task, account.lost)
  const tail = bytes.subarray(Math.max(0, bytes.length - wish.tail_bytes))
  const rotated = rotations > 0
  return {
    output_file_path: path,
    output_excerpt: textOf(tail, tail.length < total),
    ...(wish.full && { output_text: fullText(bytes, { dropped, rotated }) }),
    output_truncated: (wish.full ? bytes : tail).length < total,
    output_size_bytes: kept,
    output_total_bytes: total,
    output_rotated: rotated,
    output_rotation_count: rotations,
  }
}
