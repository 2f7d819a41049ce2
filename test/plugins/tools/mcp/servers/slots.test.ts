import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { createSlots } from '../../../../../plugins/tools/mcp/servers/slots.js'
import { createLeapingClock } from '../../../../../core/testing/leaping-clock.js'

test('mcp-2: eight have a turn at a time, required ones go first, and who is slow holds nobody up for long', async (t) => {
  const clock = createLeapingClock({ still: true })
  const inTurn = createSlots(clock)
  const begun: number[] = []
  let end: () => void = () => {}
  const begin = (at: number, isUrgent: boolean): void =>
    void inTurn({ isUrgent }, () => {
      begun.push(at)
      return new Promise<void>((resolve) => {
        end = resolve
      })
    })
  for (let at = 0; at < 20; at += 1) begin(at, at === 19)
  const first = [0, 1, 2, 3, 4, 5, 6, 7]
  await setImmediate()
  t.deepEqual(begun, first)
  end()
  await setImmediate()
  t.deepEqual(begun, [...first, 19])
  clock.leap(1_000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.deepEqual(begun, [...first, 19, 8, 9, 10, 11, 12, 13, 14, 15])
  end()
  await setImmediate()
  t.is(begun.length, 18)
})
