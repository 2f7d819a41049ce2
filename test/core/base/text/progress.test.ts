import test from 'ava'
import { createMeter, paceText, type Pace } from '../../../../core/base/text/progress.js'

const meterOf = (everyMs: number) => {
  const [shown, time] = [new Array<Pace>(), { at: 1000 }]
  const meter = createMeter({ clock: { elapsed: () => time.at }, everyMs, show: (pace) => void shown.push(pace) })
  return { shown, time, meter }
}

test('work is shown now and then, with its rate and the time that is left', (t) => {
  const { shown, time, meter } = meterOf(100)
  meter.begin('verify', 1000)
  for (let n = 0; n < 100; n += 1) {
    time.at += 10
    meter.advance(10)
  }
  t.is(shown.length, 10)
  t.like(shown[3], { what: 'verify', done: 400, bytes: 1000, percent: 40, bytesPerSecond: 1000, secondsLeft: 0.6 })
  t.like(shown.at(-1), { percent: 100, secondsLeft: 0 })
})

test('short work is not shown, a second part begins anew, and no work is more than done', (t) => {
  const { shown, time, meter } = meterOf(10_000)
  meter.begin('verify', 100)
  time.at += 9000
  meter.advance(100)
  meter.begin('copy', 100)
  time.at += 9000
  meter.advance(50)
  t.deepEqual(shown, [])
  time.at += 1000
  meter.advance(1000)
  t.like(shown[0], { what: 'copy', done: 100, percent: 100, secondsLeft: 0 })
  meter.begin('nothing', 0)
  time.at += 10_000
  meter.advance(0)
  t.like(shown[1], { percent: 100, secondsLeft: undefined })
})

test('a line tells percent, bytes, rate and time left', (t) => {
  const pace = { what: 'copy', done: 2.5e6, bytes: 1e9, percent: 0.25, bytesPerSecond: 1e6, secondsLeft: 997.5 }
  t.is(paceText(pace), 'copy: 0 %, 2.5 of 1000 MB, 1.0 MB/s, 17 min left')
  t.is(paceText({ ...pace, secondsLeft: undefined }), 'copy: 0 %, 2.5 of 1000 MB, 1.0 MB/s')
  t.regex(paceText({ ...pace, secondsLeft: 59.2 }), /, 60 s left$/u)
  t.regex(paceText({ ...pace, secondsLeft: 9000 }), /, 2 h 30 min left$/u)
})
