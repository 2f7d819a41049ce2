import test from 'ava'
import { boundWarnings } from '../../../core/retention/bound.js'
import type { Plan, Staying } from '../../../core/retention/plan.js'

const part: Staying = {
  kind: 'deliveries',
  no: 1,
  from: 1,
  since: 1,
  to: 2,
  records: 3,
  bytes: 4,
  cause: 'bytes',
  held: 'It is younger.',
}
const release = 'Give it up: holdfast deliveries resolve d1'
const over: Plan = {
  falls: [],
  stays: [part, { ...part, kind: 'runs', cause: 'age', held: 'd1 waits.', release }],
  over: 9,
}

test('retention-10: what a record holds of what fell is told before what is only young', (t) => {
  const held = { by: { collection: 'runs', id: 'run_1', since: 1, isOpen: true as const }, bytes: 7 }
  const [told] = boundWarnings({ ...over, stays: [part] }, [{ kind: 'runs', held }])
  t.regex(
    told?.message ?? '',
    /^The root holds 9 B more than max_bytes, .* runs: 7 B stay because runs run_1 can still/u,
  )
})

test('retention-10: that max_bytes is not kept is a warning with what holds the most, and with what lets it go', (t) => {
  t.deepEqual(boundWarnings({ ...over, over: 0 }, []), [])
  const [told] = boundWarnings(over, [])
  t.like(told, { severity: 'warning', code: 'max_bytes_exceeded' })
  t.regex(told?.message ?? '', /^The root holds 9 B more than max_bytes, .* runs: 3 records .*, stay: d1 waits\.$/u)
  t.regex(
    told?.action ?? '',
    /^Make max_bytes larger .*, or let go of what stays\. Give it up: holdfast deliveries resolve d1$/u,
  )
})
