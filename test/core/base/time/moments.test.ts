/** Moments as commands show them. */
import test from 'ava'
import { latestTime, showTime } from '../../../../core/base/time/moments.js'

test('command-line-21: a moment that no calendar has is shown as the number that it is', (t) => {
  t.is(showTime(0), '1970-01-01T00:00:00.000Z')
  t.is(showTime(latestTime), '+275760-09-13T00:00:00.000Z')
  for (const ms of [latestTime + 1, Number.MAX_SAFE_INTEGER, -latestTime - 1, 1e21, NaN]) t.is(showTime(ms), String(ms))
})
