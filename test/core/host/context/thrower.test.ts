import test from 'ava'
import { createFaults } from '../../../../core/host/context/faults.js'
import { createClock } from '../../../../core/base/clock.js'

const folders = new Map([
  ['/plugins/mailer/', 'mailer'],
  ['/plugins/deliveries/', 'deliveries'],
])

/** As a plugin of this folder throws it, called by the outbox. */
const thrownIn = (folder: string, name = 'Error'): Error =>
  Object.assign(new Error('the delivery is broken'), {
    name,
    stack: `Error: the delivery is broken\n    at deliver (${folder}index.js:3:5)\n    at attempt (/plugins/deliveries/attempt.js:9:9)`,
  })

const createStand = () => {
  const lines: { readonly fact: string; readonly details: Readonly<Record<string, unknown>> | undefined }[] = []
  const silent = { debug: () => {}, info: () => {}, warn: () => {} }
  const log = {
    ...silent,
    error: (fact: string, details?: Readonly<Record<string, unknown>>) => void lines.push({ fact, details }),
  }
  const secrets = { redact: (text: string) => text, guard: () => {}, redactPortions: () => [] }
  return { lines, faults: createFaults({ clock: createClock(), log, secrets, folders } as any) }
}

test('what a contribution throws is charged to its plugin, with its stack once', (t) => {
  const { lines, faults } = createStand()
  const error = thrownIn('/plugins/mailer/')
  for (const delivery_id of ['d1', 'd2'])
    t.true(faults.chargeThrower('deliveries', 'a reply plugin failed', { delivery_id, error }))
  t.is(faults.count('mailer'), 2)
  t.is(faults.count('deliveries'), 0)
  t.like(faults.last('mailer'), { where: 'a call by deliveries', message: 'the delivery is broken' })
  t.deepEqual(
    lines.map(({ fact, details }) => [fact, details]),
    [
      ['a reply plugin failed', { delivery_id: 'd1', plugin: 'mailer', caller: 'deliveries', error }],
      [
        'a reply plugin failed',
        { delivery_id: 'd2', plugin: 'mailer', caller: 'deliveries', error: 'the delivery is broken' },
      ],
    ],
  )
})

test('an own fault, an end on demand and what nobody is known to have thrown are charged to nobody else', (t) => {
  const { lines, faults } = createStand()
  for (const error of [thrownIn('/plugins/deliveries/'), thrownIn('/plugins/mailer/', 'AbortError')])
    t.is(faults.chargeThrower('deliveries', 'a reply plugin failed', { error }), false)
  t.is(faults.chargeThrower('deliveries', 'no error', {}), false)
  t.deepEqual([lines, faults.count('mailer')], [[], 0])
})
