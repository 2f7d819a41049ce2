import test from 'ava'
import { createChunks } from '../../../core/events/chunks.js'
import { createIdSpace } from '../../../core/events/epoch.js'
import { createFanOut } from '../../../core/events/fan-out.js'
import { createFrames, type WindowEvent } from '../../../core/events/frames.js'
import { createWindow } from '../../../core/events/window.js'

const ids = createIdSpace(7)
const onFault = ({ error }: { error: unknown }): void => {
  throw error
}
const eventOf = (counter: number, run: string): WindowEvent => ({
  counter,
  name: 'told',
  keys: { run },
  bytes: 0,
  make: () => ({}),
  data: undefined,
  frame: undefined,
  start: 0,
  end: 0,
  lent: 0,
})

test('frames are made in the order of the events, whoever follows which of them', (t) => {
  const chunks = createChunks()
  const window = createWindow({ capacity: 8, bytes: 10_000, release: chunks.release })
  const frames = createFrames({ ids, chunks, onFault, weigh: window.weigh })
  const fanOut = createFanOut({ window, ids, frames, onFault })
  const sink = { ready: () => true, roomy: () => true, write: () => undefined }
  for (const id of ['x', 'y']) fanOut.subscribe(sink, { filter: { scope: 'run', id } })
  const events = ['x', 'y', 'nobody', 'x', 'y'].map((run, index) => eventOf(index + 1, run))
  for (const event of events) {
    window.push(event)
    fanOut.push(event)
  }
  fanOut.flush()
  const [first, second, unseen, third, fourth] = events
  t.deepEqual([unseen?.frame, new Set([first, second, third, fourth].map((one) => one?.frame)).size], [undefined, 1])
  t.deepEqual([second?.start, third?.start, fourth?.start], [first?.end, second?.end, third?.end])
  t.deepEqual(
    events.map(({ lent }) => lent),
    [0, 0, 0, 0, 0],
  )
})
