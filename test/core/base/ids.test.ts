import test from 'ava'
import { createClock } from '../../../core/base/clock.js'
import { createIds } from '../../../core/base/ids.js'

test('ids sort in order of making, also when many are made in one millisecond or the clock goes back', (t) => {
  let now = 1_800_000_000_000
  const ids = createIds({ ...createClock(), now: () => now })
  const made: string[] = []
  for (let n = 0; n < 20_000; n += 1) {
    if (n % 3000 === 2999) now += n % 2 === 0 ? 5 : -5
    made.push(ids.make('run'))
  }
  t.deepEqual([...made].sort(), made)
  t.is(new Set(made).size, made.length)
  t.true(made.every((id) => /^run_[0-9a-hjkmnp-tv-z]{26}$/u.test(id)))
})

test('an id tells the millisecond in which it was made', (t) => {
  const now = 2_500_000_000_123
  const id = createIds({ ...createClock(), now: () => now }).make('x')
  const digits = Array.from(id.slice(2, 12), (char) => '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(char))
  t.is(
    digits.reduce((sum, digit) => sum * 32 + digit, 0),
    now,
  )
})

test('random text has the asked length and differs each time', (t) => {
  const ids = createIds(createClock())
  const made = Array.from({ length: 2000 }, () => ids.random(8))
  t.true(made.every((text) => /^[0-9a-f]{16}$/u.test(text)))
  t.is(new Set(made).size, made.length)
  t.is(ids.random(10_000).length, 20_000)
})

test('ids go on behind those that are known, and names that people chose do not stop them', (t) => {
  let now = 1_800_000_000_000
  const clock = { ...createClock(), now: () => now }
  const earlier = createIds({ ...clock, now: () => now + 7_200_000 })
  const known = Array.from({ length: 5000 }, () => earlier.make('run'))
  const ids = createIds(clock)
  ids.goOnBehind([
    ...known,
    'first',
    'run_01uuuuuuuuuuuuuuuuuuuuuuuu',
    '_0123',
    'x_zzzzzzzzzzzzzzzzzzzzzzzzzz',
    'run_uuuuuuuuuuuuuuuuuuuuuuuuuu',
    '',
  ])
  const made = Array.from({ length: 5000 }, () => ids.make('run'))
  t.deepEqual([...known, ...made].toSorted(), [...known, ...made])
  now += 86_400_000
  t.true(ids.make('run') > (made.at(-1) ?? ''))
})
