/** Time stands still but for the work that lines make, and for waits that the test ends. */
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { createClock, type Clock } from '../../../../../core/base/clock.js'
import { createPace } from '../../../../../plugins/tools/mcp/connection/pace.js'
import { readLines } from '../../../../../plugins/tools/mcp/connection/reading.js'

const timeOfItsOwn = () => {
  let [elapsed, slept]: [number, number] = [0, 0]
  let waiting: (() => void) | undefined
  const clock: Clock = {
    ...createClock(),
    elapsed: () => elapsed,
    sleep: (ms) =>
      new Promise((resolve) => {
        waiting = () => {
          elapsed += ms
          slept += ms
          resolve(true)
        }
      }),
  }
  return {
    clock,
    work: (ms: number): void => void (elapsed += ms),
    slept: () => slept,
    /** Waits until somebody sleeps, and ends that. */
    async wake() {
      while (waiting === undefined) await setImmediate()
      const wake = waiting
      waiting = undefined
      wake()
    },
    async untilAsleep() {
      while (waiting === undefined) await setImmediate()
    },
  }
}

const endless = (chunk: string) => {
  let written = 0
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      written += 1
      this.push(Buffer.from(chunk))
    },
  })
  return { stream, written: () => written }
}

test('mcp-23: what a program writes is read no faster than its pace, and the rest waits at the program', async (t) => {
  const time = timeOfItsOwn()
  const { stream, written } = endless('line\n'.repeat(1_000))
  let [heard, isOver] = [0, false]
  const hear = (): void => {
    heard += 1
    time.work(1)
  }
  const pace = createPace(time.clock)
  const reading = { most: 100, hear, onTooLong: () => {}, isOver: () => isOver }
  const first = readLines(stream, { ...reading, visit: pace.visit() })
  await time.untilAsleep()
  t.true(heard >= 200 && heard < 230, `a burst of ${heard}`)
  t.true(written() < 4, `${written()} chunks were taken`)
  const before = heard
  for (let rounds = 0; rounds < 50; rounds += 1) await time.wake()
  await time.untilAsleep()
  const worked = heard - before
  t.true(worked > 100 && worked <= (time.slept() + worked) * 0.11, `${worked} ms of work, ${time.slept()} ms of rest`)
  isOver = true
  stream.push(null)
  stream.destroy()
  await time.wake()
  await first
  t.is(heard, before + worked)
})

test('mcp-23: all streams of a server share its time', async (t) => {
  const time = timeOfItsOwn()
  const pace = createPace(time.clock)
  const work = (ms: number): Promise<void> | undefined => {
    const visit = pace.visit()
    visit.begin()
    time.work(ms)
    return visit.rest()
  }
  let woke = 0
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await setImmediate()
  }
  for (let streams = 0; streams < 10; streams += 1) void work(15)?.then(() => (woke += 1))
  await turns()
  t.is(woke, 10, 'there is a burst for all of them')
  void work(100)?.then(() => (woke += 1))
  await time.untilAsleep()
  await turns()
  t.is(woke, 10, 'what is above it waits')
  await time.wake()
  await turns()
  t.is(woke, 11)
})

test('mcp-18: a line that is too long is told of, and what follows it is heard', async (t) => {
  const stream = Readable.from([Buffer.from('a\r\nb'), Buffer.from('b\n'), Buffer.alloc(200, 'x'), Buffer.from('c\n')])
  const heard: string[] = []
  let long = 0
  await readLines(stream, {
    most: 100,
    visit: createPace(createClock()).visit(),
    hear: (line) => heard.push(line),
    onTooLong: () => (long += 1),
    isOver: () => false,
  })
  t.deepEqual([heard, long], [['a', 'bb', 'c'], 1])
})
