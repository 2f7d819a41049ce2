import test from 'ava'
import { defineErrors } from '../../../../core/base/errors.js'
import { createUnready } from '../../../../core/http/access/unready.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'

const errors = defineErrors({
  key_missing: { status: 404, detail: 'There is no key.', action: 'Store it.' },
  key_unreadable: { status: 500, detail: 'The key cannot be read.' },
})

test('http-48: the log has each reason once in ten minutes, and the warning stands for an hour', (t) => {
  const clock = createLeapingClock({ still: true })
  t.teardown(() => clock.clear())
  const lines: unknown[] = []
  const quiet = (): void => {}
  const warn = (fact: string, details: object = {}): void => void lines.push({ fact, ...details })
  const { tell, warnings } = createUnready(clock, { debug: quiet, info: quiet, warn, error: quiet })
  const minutes = (count: number): void => clock.leap(count * 60_000)
  const refuse = (route_id = 'a', problem = errors.key_missing()): number => {
    tell(route_id, problem)
    return lines.length
  }
  t.deepEqual(warnings(), [])
  t.deepEqual([refuse(), refuse(), refuse('b')], [1, 1, 2])
  minutes(9)
  t.is(refuse(), 2)
  minutes(1)
  t.is(refuse(), 3)
  t.is(refuse('a', errors.key_unreadable()), 4, 'another reason')
  t.deepEqual(lines.at(-1), {
    fact: 'callers of a route cannot be checked',
    route: 'a',
    code: 'key_unreadable',
    message: 'The key cannot be read.',
  })
  t.deepEqual(
    warnings().map(({ related_id, message }) => [related_id, message]),
    [
      ['a', 'Callers of a cannot be checked: The key cannot be read. (key_unreadable)'],
      ['b', 'Callers of b cannot be checked: There is no key. (key_missing)'],
    ],
  )
  minutes(50)
  t.deepEqual(
    warnings().map(({ related_id }) => related_id),
    ['a'],
  )
  minutes(60)
  t.deepEqual(warnings(), [])
})
