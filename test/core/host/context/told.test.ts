/** Whatever a third-party plugin does that is told in a commit, the commit stands, and the plugin is charged. */
import test, { type ExecutionContext } from 'ava'
import type { Tx } from '../../../../core/plugin.js'
import { ExternalActions } from '../../../../plugins/execution/external-actions/contract.js'
import { Outbox, ReplyPlugins, type ReplyPlugin } from '../../../../plugins/execution/deliveries/contract.js'
import { asTold, faultsOf, notesAsTold as notes, say, startAsTold } from '../../../support/as-told.js'
import { channel, person, speaker } from '../../../support/channels.js'
import type { TestDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'
import { lender } from '../../../support/plugins.js'
import { openSession, submit, until } from '../../../support/runs.js'

const lent = lender({ ledger: ExternalActions, outbox: Outbox })
const start = async (t: ExecutionContext): Promise<TestDaemon> => {
  const config = { tools: { permission_mode: 'bypassPermissions' } }
  const daemon = await startAsTold(t, { plugins: [lent.plugin], config })
  lent.context().contribute(ReplyPlugins, teller)
  return daemon
}
const teller: ReplyPlugin = {
  plugin: 'teller',
  address: () => undefined,
  refuse: () => undefined,
  target: () => 'teller',
  deliver: () => Promise.resolve({ type: 'delivered' }),
}

type Act = (tx: Tx, ...told: readonly unknown[]) => unknown

const note = (tx: Tx, text = 'told'): void => tx.put(notes(), { note: text })
/** What it may do, by what it is charged with. */
const acts: Readonly<Record<string, Act>> = {
  'is broken': (tx) => {
    note(tx)
    throw new Error('it is broken')
  },
  'it must not be async': async (tx) => note(tx),
  'The change is larger': (tx) => note(tx, 'y'.repeat(30_000_000)),
  'read only property': (tx, ...told) => {
    note(tx)
    for (const one of told) if (typeof one === 'object' && one !== null) Reflect.ownKeys(one).forEach(writeTo(one))
  },
}
/** As code in strict mode does. */
const writeTo =
  (one: object) =>
  (key: string | symbol): void => {
    if (!Reflect.set(one, key, 'MUTATED')) throw new TypeError(`a read only property: ${String(key)}`)
  }

interface Told {
  /** What is told, and what it is told. */
  readonly what: string
  readonly charged: string
  /** Whether a record is told, and no name alone. */
  readonly record?: true
  readonly prepare?: (daemon: TestDaemon, at: string) => Promise<unknown>
  /** Does what it is told of; the status of the answer. */
  readonly act: (daemon: TestDaemon, at: string) => Promise<number>
}

const made = (daemon: TestDaemon, at: string): Promise<unknown> =>
  channel(daemon, at, { members: [person('ann'), person('bob')] })
const statusOf = async (answer: Promise<{ readonly status: number }>): Promise<number> => (await answer).status
const ran = async (daemon: TestDaemon, at: string): Promise<number> => {
  const { run_id } = await submit(daemon, at, '/tool bash {"command":"true"}\n---\n/say done')
  return (await until(daemon, run_id, 'completed', 'failed')).status === 'completed' ? 200 : 500
}

/** As a plugin that pays in a run, and does not learn whether it has. */
const pay = ({ run_id, session_id }: { readonly run_id: string; readonly session_id: string }): Promise<void> =>
  lent.context().state.commit((tx) => {
    const action = { action_id: `${run_id}/pay`, session_id, attempt: 1 }
    const approved_by = { type: 'configuration' as const, id: 'default' }
    const { ledger } = lent.services()
    ledger.intend(tx, { ...action, kind: 'tool', run_id, target: 'pay', request_digest: 'aa', approved_by })
    ledger.conclude(tx, { ...action, outcome: 'unknown' })
  })

const sent = async ({ request }: TestDaemon, session_id: string): Promise<number> => {
  const targets = [{ plugin: 'teller', address: session_id }]
  const item = { session_id, agent_id: 'agent_1', output: 1, content: 'An output.', targets }
  await lent.context().state.commit((tx) => lent.services().outbox.enqueue(tx, item))
  for (const pause = createPause(); ; await pause()) {
    const { status, body } = await request('GET', `/v1/deliveries?session_id=${session_id}&status=delivered`)
    if (body.length > 0) return status
  }
}

const all: readonly Told[] = [
  {
    what: 'ended of session-end-guards@1',
    charged: 'hearing of the end of a session',
    prepare: openSession,
    act: ({ request }, at) => statusOf(request('POST', `/v1/sessions/${at}/end`, {})),
  },
  {
    what: 'revoke of secret-references@1',
    charged: 'hearing of a revoked secret',
    prepare: ({ request }, at) =>
      request('POST', '/v1/runtime/secrets', { slot_id: at, state: { value: 'a secret of some length' } }),
    act: ({ request }, at) => statusOf(request('POST', `/v1/runtime/auth/slots/${at}/revoke`)),
  },
  {
    what: 'entered of action-listeners@1',
    charged: 'hearing of an external action',
    record: true,
    prepare: openSession,
    act: ran,
  },
  {
    what: 'unknown of action-listeners@1',
    charged: 'hearing of unknown outcomes',
    prepare: openSession,
    act: async (daemon, at) => {
      await pay(await submit(daemon, at, '/say done'))
      return 200
    },
  },
  {
    what: 'settled of delivery-observers@1',
    charged: 'hearing of settled deliveries',
    record: true,
    prepare: openSession,
    act: sent,
  },
  {
    what: 'left of channel-parts@1',
    charged: 'hearing of a member that left',
    record: true,
    prepare: async (daemon, at) => channel(daemon, at, { members: [speaker(await openSession(daemon, at))] }),
    act: ({ request }, at) => statusOf(request('DELETE', `/v1/channels/${at}/members/${at}`)),
  },
  {
    what: 'posted of channel-parts@1',
    charged: 'hearing of a message',
    record: true,
    prepare: made,
    act: ({ request }, at) =>
      statusOf(request('POST', `/v1/channels/${at}/messages`, { sender_actor_id: 'ann', content: 'Hello' })),
  },
  {
    what: 'changed of channel-parts@1',
    charged: 'hearing of a changed channel',
    record: true,
    prepare: made,
    act: ({ request }, at) => statusOf(request('PUT', `/v1/channels/${at}`, { paused: true })),
  },
  {
    what: 'removed of channel-parts@1',
    charged: 'hearing of a removed channel',
    prepare: made,
    act: ({ request }, at) => statusOf(request('DELETE', `/v1/channels/${at}`)),
  },
]

for (const { what, charged, record = false, prepare, act } of all)
  test.serial(`runtime-19: ${charged} stops nothing, whatever a plugin does`, async (t) => {
    const daemon = await start(t)
    for (const [at, [message, does]] of Object.entries(acts).entries()) {
      if (message.startsWith('read only') && !record) continue
      const id = `s${at}`
      await prepare?.(daemon, id)
      say({ [what]: does })
      t.true((await act(daemon, id)) < 300, message)
      say({})
      t.deepEqual(faultsOf(daemon).ids, [asTold], message)
      t.is(faultsOf(daemon).last?.where, `${charged} by told`)
      t.true(faultsOf(daemon).last?.message.includes(message), faultsOf(daemon).last?.message)
      t.is(notes().count('all', 'all'), 0, 'nothing of it stays')
    }
  })

test.serial('channels-9: a plugin that cannot take what it kept of a channel keeps its id from nobody', async (t) => {
  const daemon = await start(t)
  for (const [message, sweep] of Object.entries(acts).slice(0, 3)) {
    await made(daemon, 'c')
    say({ 'sweep of channel-parts@1': sweep })
    t.is((await daemon.request('DELETE', '/v1/channels/c')).status, 200)
    const again = async (): Promise<boolean> =>
      (await daemon.request('POST', '/v1/channels', { channel_id: 'c', title: 'new' })).status === 201
    for (let look = 0; !(await again()); look += 1) if (look > 200) return t.fail(message)
    say({})
    t.is((await daemon.request('DELETE', '/v1/channels/c')).status, 200)
    t.true(faultsOf(daemon).last?.message.includes(message))
    t.is(notes().count('all', 'all'), 0)
    for (let look = 0; !(await again()); look += 1) if (look > 200) return t.fail(message)
    await daemon.request('DELETE', '/v1/channels/c')
  }
})

test.serial('runtime-19: what a plugin of others does well in a commit stays with it', async (t) => {
  const daemon = await start(t)
  await openSession(daemon)
  say({ 'ended of session-end-guards@1': (tx) => note(tx) })
  t.is((await daemon.request('POST', '/v1/sessions/s1/end', {})).status, 200)
  t.is(notes().count('all', 'all'), 1)
  t.deepEqual(faultsOf(daemon).ids, [])
})
