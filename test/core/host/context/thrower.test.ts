import test from 'ava'
import { createFaults, ownerOf } from '../../../../core/host/context/faults.js'
import { errors as configErrors } from '../../../../core/base/config.js'
import { createClock } from '../../../../core/base/clock.js'
import { shippedCandidate } from '../../../../core/host/load/candidate.js'

const owner = (id: string, from: string) => ({ id, from, owns: (line: string) => line.includes(`/plugins/${id}/`) })
const owners = [owner('mailer', 'state:mailer'), owner('pager', 'state:pager'), owner('deliveries', 'shipped')]

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
  return { lines, faults: createFaults({ clock: createClock(), log, secrets, owners } as any) }
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

test('a shipped callback is not charged with what a contribution threw into it, a third-party one answers for its own', (t) => {
  const { lines, faults } = createStand()
  faults.charge('deliveries', 'a timer', thrownIn('/plugins/mailer/'))
  faults.charge('core', 'the route /x', thrownIn('/plugins/mailer/'))
  t.like(faults.last('mailer'), { where: 'the route /x of core' })
  t.deepEqual([faults.count('mailer'), faults.count('deliveries')], [2, 0])
  faults.charge('pager', 'a timer', thrownIn('/plugins/mailer/'))
  faults.charge('deliveries', 'a timer', thrownIn('/plugins/deliveries/'))
  t.deepEqual([faults.count('mailer'), faults.count('pager'), faults.count('deliveries')], [2, 1, 1])
  t.is(lines.at(-1)?.fact, 'plugin deliveries failed in a timer')
})

test('code is told by the whole folder of a plugin, not by a name that stands in other paths too', (t) => {
  const plugins = new URL('../../../../plugins/', import.meta.url).href
  const core = new URL('../../../../core/', import.meta.url).href
  const candidates = ['tools', 'shell', 'http', 'memory'].map((id) =>
    shippedCandidate({ id, required: false, load: () => Promise.reject(new Error('not loaded')) }, {} as any),
  )
  const ownerAt = (file: string) => ownerOf({ stack: `at x (${file}:1:2)`, __proto__: Error.prototype }, candidates)
  t.is(ownerAt(`${plugins}tools/shell/bash.js`), 'shell')
  t.is(ownerAt(`${plugins}execution/tools/registry.js`), 'tools')
  t.is(ownerAt(`${plugins}execution/memory/store.js`), 'memory')
  for (const own of ['http/server/exchange.js', 'state/memory/transaction.js'])
    t.is(ownerAt(`${core}${own}`), undefined)
  t.is(ownerAt('file:///srv/memory/http/node_modules/pino/pino.js'), undefined)
})

test('a refusal is one line with its reason, and of a stack only what the code of plugins did is logged', (t) => {
  const { lines, faults } = createStand()
  const refused = configErrors.config_invalid({ details: { source: 'config/mailer.toml', problem: 'x is unknown' } })
  faults.charge('mailer', 'register', refused)
  t.is(lines.at(-1)?.details?.['error'], 'config/mailer.toml x is unknown (config_invalid)')
  const own = '    at register (/plugins/mailer/index.js:3:5)'
  const stack = `TypeError: broken\n    at Array.map (<anonymous>)\n${own}\n    at declare (/core/host/register.js:1:1)`
  faults.charge('mailer', 'register', Object.assign(new TypeError('broken'), { stack }))
  t.like(lines.at(-1)?.details?.['error'], {
    name: 'TypeError',
    message: 'broken',
    stack: `TypeError: broken\n    at Array.map (<anonymous>)\n${own}`,
  })
  const ours = new TypeError('a fault of core')
  faults.charge('mailer', 'register', ours)
  t.is(lines.at(-1)?.details?.['error'], ours)
})
