/**
 * Questions to parents in each of their ends, and a daemon that dies at each step: after the question, while it ends,
 * after its end, while its answer is read, and when all is done. A real process, and a model behind a real socket.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { freshRoot, spawnDaemon, type Answer, type SpawnedDaemon } from '../../../support/daemon.js'
import { calling, saying, startOpenAiServer, type Asked, type Reply } from '../../../support/openai-server.js'
import { until } from '../../../support/runs.js'

const clock = createClock()
const question = { question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue' }] }

interface Pair {
  readonly end: string
  readonly session_id: string
  readonly parent: string
  readonly child: string
  readonly child_session: string
  readonly first_run: string
}
/** A question as `GET /v1/questions` lists it. */
type Open = { readonly run_id: string; readonly request: { readonly id: string } }

const answer =
  (resolution: object) =>
  async (daemon: SpawnedDaemon, _: Pair, { run_id, request }: Open) =>
    daemon.request('POST', `/v1/runs/${run_id}/questions`, { resolution: { request_id: request.id, ...resolution } })
const close = (daemon: SpawnedDaemon, session_id: string) =>
  daemon.request('POST', `/v1/sessions/${session_id}/end`, {})

interface End {
  readonly does: (daemon: SpawnedDaemon, pair: Pair, open: Open) => Promise<Answer | undefined>
  /** What stands in the message. */
  readonly told: string
  /** The child is closed: nobody reads the message. */
  readonly isDead?: true
  readonly run: string
}

// Long enough that all of them are asked before, also where the machine has other things to do.
const expiresAfterMs = 6_000
const ends: Readonly<Record<string, End>> = {
  answered: {
    does: answer({ answers: [{ question_id: 'q1', selected_option_ids: ['o2'] }] }),
    told: '"selected":["blue"]',
    run: 'completed',
  },
  declined: { does: answer({ declined: true, justification: 'not mine' }), told: '"declined":true', run: 'completed' },
  cancelled: {
    does: (daemon, _, { run_id, request }) =>
      daemon.request('POST', `/v1/runs/${run_id}/questions/${request.id}/cancel`, {}),
    told: '"declined":true',
    run: 'completed',
  },
  expired: { does: async () => undefined, told: '"decided_by":"timeout"', run: 'completed' },
  'run cancelled': {
    does: (daemon, _, { run_id }) => daemon.request('POST', `/v1/runs/${run_id}/cancel`, {}),
    told: '"declined":true',
    run: 'cancelled',
  },
  'child closed': {
    async does(daemon, pair, open) {
      await close(daemon, pair.child_session)
      return answer({ declined: true })(daemon, pair, open)
    },
    told: '"declined":true',
    isDead: true,
    run: 'completed',
  },
  'parent ended': {
    async does(daemon, { session_id, child_session }) {
      await close(daemon, child_session)
      return close(daemon, session_id)
    },
    told: '"justification":"the session of the parent was ended"',
    isDead: true,
    run: 'completed',
  },
}

/** The model of the children: it asks, and reads what it is told as soon as it may. */
const startModel = async (t: ExecutionContext) => {
  let isOpen = false
  let next = 0
  const respond = async ({ body, gone }: Asked): Promise<Reply> => {
    const messages: any[] = JSON.parse(JSON.stringify(body['messages']))
    const last = messages.at(-1)
    if (last.role === 'tool') return saying('I have asked.')
    const asks = /ask your parent( soon)?/u.exec(JSON.stringify(last.content))
    if (asks !== null)
      return calling({
        id: `call_${(next += 1)}`,
        name: 'request_parent_clarification',
        input: JSON.stringify({
          questions: [question],
          ...(asks[1] !== undefined && { expires_after_ms: expiresAfterMs }),
        }),
      })
    let isGone = false
    void gone.then(() => (isGone = true))
    while (!isOpen && !isGone) await clock.sleep(10)
    return saying('read')
  }
  const server = await startOpenAiServer(respond)
  t.teardown(() => server.close())
  return {
    url: server.url,
    hold: (): void => void (isOpen = false),
    release: (): void => void (isOpen = true),
  }
}

const begin = async (daemon: SpawnedDaemon, end: string, session_id: string): Promise<Pair> => {
  const parent: string = (await daemon.request('POST', '/v1/sessions', { session_id })).body.agent_id
  const content = end === 'expired' ? 'ask your parent soon' : 'ask your parent'
  const made = await daemon.request('POST', `/v1/agents/${parent}/sidechains`, { subtask: { name: 'paint', content } })
  const { session_id: child_session, agent_id: child } = made.body
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${child_session}`)).body
  await until(daemon, run.run_id, 'completed')
  return { end, session_id, parent, child, child_session, first_run: run.run_id }
}

const readingsOf = async (daemon: SpawnedDaemon, { child_session }: Pair): Promise<any[]> =>
  (await daemon.request('GET', `/v1/runs?session_id=${child_session}`)).body.filter(
    ({ kind }: any) => kind === 'mailbox_delivery',
  )
const deadOf = async (daemon: SpawnedDaemon, { child }: Pair): Promise<any[]> =>
  (await daemon.request('GET', `/v1/agents/${child}/mailbox/dead-letter`)).body
const questionsOf = async (daemon: SpawnedDaemon): Promise<any[]> => (await daemon.request('GET', '/v1/questions')).body

const eventually = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const deadline = clock.elapsed() + 600_000
  while (!(await holds())) {
    if (clock.elapsed() > deadline) throw new Error(`never: ${what}`)
    await clock.sleep(10)
  }
}

/** Told once: in one run that completed, or as one dead letter, and nothing is left of the question. */
const checkTold = async (t: ExecutionContext, daemon: SpawnedDaemon, pair: Pair, { run_id, request }: Open) => {
  const { told, isDead, run } = ends[pair.end] ?? { told: '', run: '' }
  const [readings, dead] = [await readingsOf(daemon, pair), await deadOf(daemon, pair)]
  const message_id = `clarification:${request.id}`
  t.deepEqual(
    readings.map(({ status, input_metadata }) => [status, input_metadata.mailbox_message_ids]),
    isDead ? [] : [['completed', [message_id]]],
    pair.end,
  )
  t.deepEqual(
    dead.map(({ id }) => id),
    isDead ? [message_id] : [],
    pair.end,
  )
  const { journal } = (await daemon.request('GET', `/v1/sessions/${pair.child_session}/events`)).body.session
  const texts = journal
    .map(({ entry }: any) => entry.event)
    .flatMap((event: any) => (event?.type === 'accepted' ? [event.content] : []))
    .slice(1)
  const payloads = isDead ? dead.map(({ payload }) => JSON.stringify(payload)) : texts
  t.is(payloads.length, 1)
  t.true(payloads[0].includes(told), `${pair.end}: ${payloads[0]}`)
  t.deepEqual((await daemon.request('GET', `/v1/agents/${pair.child}/mailbox`)).body, [])
  t.like((await daemon.request('GET', `/v1/agents/${pair.child}`)).body.agent, { status: 'completed' })
  t.is((await daemon.request('GET', `/v1/runs/${run_id}`)).body.status, run, pair.end)
  const events: any[] = (await daemon.request('GET', `/v1/runs/${run_id}/events`)).body
  const resolved = events.filter(({ event }) => event.type === 'parent_clarification_resolved')
  t.is(resolved.length, run === 'completed' ? 1 : 0, pair.end)
  const again = await answer({ answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] })(daemon, pair, {
    run_id,
    request,
  })
  t.is(again.status, 409, `${pair.end} is answered again`)
}

for (const when of ['after each end', 'while they end'] as const) {
  test.serial(
    `clarification-4, clarification-5: each end is told once, whenever the daemon dies: ${when}`,
    async (t) => {
      const model = await startModel(t)
      const root = await freshRoot()
      t.teardown(() => rmSync(root, { recursive: true, force: true }))
      mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
      writeFileSync(join(root, 'config', 'runs.toml'), 'max_unclean_boots = 1000\n')
      const flags = ['--provider', 'openai_compatible', '--provider-base-url', model.url, '--model', 'm']
      const boot = (): Promise<SpawnedDaemon> => spawnDaemon({ root, flags })
      let daemon = await boot()
      const again = async (): Promise<void> => {
        await daemon.kill('SIGKILL')
        daemon = await boot()
      }
      const pairs = await Promise.all(Object.keys(ends).map((end, n) => begin(daemon, end, `p${n}`)))
      const asked = await questionsOf(daemon)
      const openOf = new Map<string, Open>(asked.map((one) => [one.requester_session_id, one]))
      const open = ({ child_session }: Pair): Open => openOf.get(child_session) ?? { run_id: '', request: { id: '' } }
      t.is(asked.length, pairs.length)
      const lasting = (found: any[]): any[] => found.filter(({ session_id }) => session_id !== 'p3')

      await again()
      t.deepEqual(lasting(await questionsOf(daemon)), lasting(asked), 'a restart leaves the questions')
      for (const pair of pairs)
        if (pair.end !== 'expired')
          t.like((await daemon.request('GET', `/v1/agents/${pair.child}`)).body.agent, {
            status: 'waiting_for_user_input',
          })

      if (when === 'after each end') {
        for (const pair of pairs) await ends[pair.end]?.does(daemon, pair, open(pair))
        await again()
      } else
        for (const pair of pairs) {
          const cut = ends[pair.end]?.does(daemon, pair, open(pair)).catch(() => undefined)
          await clock.sleep((pairs.indexOf(pair) * 5) % 12)
          await again()
          await cut
          await ends[pair.end]?.does(daemon, pair, open(pair))
        }
      await eventually('no question is open', async () => (await questionsOf(daemon)).length === 0)
      for (const pair of pairs)
        await eventually(`${pair.end} is on its way`, async () =>
          ends[pair.end]?.isDead === true
            ? (await deadOf(daemon, pair)).length > 0
            : (await readingsOf(daemon, pair)).some(({ status }) => status === 'running'),
        )
      await again()
      model.release()
      for (const pair of pairs)
        if (ends[pair.end]?.isDead === undefined)
          await eventually(`${pair.end} is read`, async () =>
            (await readingsOf(daemon, pair)).some(({ status }) => status === 'completed'),
          )
      await again()
      for (const pair of pairs) await checkTold(t, daemon, pair, open(pair))
      t.deepEqual(await questionsOf(daemon), [])
      await daemon.stop()
    },
  )
}
