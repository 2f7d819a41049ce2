import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { createMissed } from '../../../../core/host/configuration/missed.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'

test('runtime-35: each file has its own 2 s, which begin anew when it was there between', async (t) => {
  const clock = createLeapingClock({ still: true })
  const leap = (ms: number) => {
    clock.leap(ms)
    return sleep(20)
  }
  const believed: string[] = []
  const missed = createMissed(clock, (file) => void believed.push(file))
  missed.note(['tools'])
  await leap(1_500)
  missed.note(['tools', 'hooks'])
  await leap(600)
  t.deepEqual(believed, ['tools'])
  missed.note([])
  missed.note(['hooks'])
  await leap(1_900)
  t.deepEqual(believed, ['tools'])
  await leap(100)
  t.deepEqual(believed, ['tools', 'hooks'])
})
