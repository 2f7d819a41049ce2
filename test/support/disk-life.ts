/** Two lives of a small state on the real disk; each acknowledgement is a line in a file beside the root. */
import { openSync, writeSync } from 'node:fs'
import { holdRoot, writeNotes, type HeldRoot } from './kept-root.js'
import { note } from './notes.js'

const [root = '', acks = ''] = process.argv.slice(2)
const marks = openSync(acks, 'a', 0o600)
const acknowledge = (what: string): void => void writeSync(marks, `${what}\n`)

const work = async (held: HeldRoot, from: number): Promise<void> => {
  acknowledge('open')
  await held.state.commit((tx) => tx.put(held.people, { name: 'ann' }))
  acknowledge('commit')
  await writeNotes(held, from, 5)
  acknowledge('batch')
  await held.state.commit((tx) => tx.put(held.notes, note(from, { text: 'x'.repeat(200_000) })))
  acknowledge('large commit')
  await held.state.document<{ from: number }>('settings').write({ from })
  acknowledge('document')
  await held.state.blobs('pictures').put(Buffer.from(`picture ${from}`))
  acknowledge('blob')
  await held.state.commit((tx) => tx.remove(held.notes, `n${from + 2}`, 'test'))
  await held.checkpoint()
  acknowledge('checkpoint')
  await writeNotes(held, from + 10, 5)
  acknowledge('commits behind a checkpoint')
}

const first = await holdRoot(root)
await work(first, 1)
await first.end()
acknowledge('closed')
const second = await holdRoot(root)
await work(second, 100)
await second.die()
const third = await holdRoot(root)
await work(third, 200)
await third.end()
acknowledge('closed')
