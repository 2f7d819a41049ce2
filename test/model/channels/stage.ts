/** A daemon whose agents wait until a history lets them answer, and what of it is compared with the model. */
import type { ExecutionContext } from 'ava'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { scripted, type Told } from '../../plugins/coordination/floor/bots.js'
import { freshRoot, startTestDaemon } from '../../support/daemon.js'
import { turnsOf, type Channel } from './talk.js'

/** An agent that has been asked and has not answered. */
export interface Asked {
  readonly name: string
  /** The number of the message that it is to respond to. */
  readonly message: number
  answer(content: string | undefined): void
}

export const openStage = async (t: ExecutionContext) => {
  const asked = new Map<string, Asked>()
  const script = ({ bot, message, signal }: Told): Promise<string | undefined> =>
    new Promise((resolve) => {
      const answer = (content: string | undefined): void => {
        if (asked.get(bot) === one) asked.delete(bot)
        resolve(content)
      }
      const one = { name: bot, message: Number(message.slice(1)), answer }
      asked.set(bot, one)
      signal.addEventListener('abort', () => answer(undefined), { once: true })
    })
  const root = await freshRoot()
  const clock = createLeapingClock()
  const model = scripted({ script })
  const open = () => startTestDaemon(t, { root, clock, plugins: [model.plugin], config: model.config })
  let daemon = await open()
  return {
    asked,
    clock,
    root,
    request: (...args: Parameters<typeof daemon.request>) => daemon.request(...args),
    close: () => daemon.stop(),
    async restart(): Promise<void> {
      await daemon.stop()
      daemon = await open()
    },
  }
}
export type Stage = Awaited<ReturnType<typeof openStage>>

/** A channel of the daemon, and what the model says of it. */
export interface Play {
  readonly stage: Stage
  readonly id: string
  readonly model: Channel
  /** Ids of the messages, by their numbers. */
  readonly ids: string[]
}

export const call = async ({ request }: Pick<Stage, 'request'>, ...[method, path, body]: any[]): Promise<any> => {
  const answer = await request(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${answer.text}`)
  return answer.body
}

const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)
const lineOf = (turn: { [key: string]: unknown }): string => JSON.stringify(turn)

/** What is to be seen. */
const expected = ({ model }: Play) => ({
  messages: model.messages.map(
    ({ author = 'ann', reply = null, root }, at) => `m${at} of ${author} in ${root} to ${reply}`,
  ),
  turns: turnsOf(model)
    .map(({ root, holder, origin, human, queue }) =>
      lineOf({ root, holder, origin, human, called: model.threads.get(root)?.called, queue }),
    )
    .toSorted(byText),
  asked: [...new Set(turnsOf(model).map(({ holder }) => holder))].toSorted(byText),
})

const numberOf = (content: string): number => Number(content.slice(1))

/** What is to be seen of the daemon, and the runs of the turns. */
const observed = async (play: Play) => {
  const { stage, id, model } = play
  const leases = await call(stage, 'GET', `/v1/channels/${id}/leases`)
  const said = await call(stage, 'GET', `/v1/channels/${id}/messages`)
  const numbers = new Map<string, number>(said.map((one: any) => [one.message_id, numberOf(one.output.content)]))
  for (const [message_id, at] of numbers) play.ids[at] = message_id
  const number = (message_id: string | undefined) => (message_id === undefined ? null : numbers.get(message_id))
  const ordered: any[] = said.toSorted((left: any, right: any) => number(left.message_id)! - number(right.message_id)!)
  const mine = [...stage.asked.values()].filter(({ name }) => name.startsWith(id))
  const faults = mine
    .filter(({ name, message }) => !turnsOf(model, name).some(({ origin }) => origin === message))
    .map(({ name, message }) => `${name} was asked about m${message}`)
  return {
    runs: leases.map(({ active_run_id }: any) => active_run_id),
    orders: orderFaults(said, number),
    seen: {
      messages: ordered.map(
        ({ output, sender, sender_session_id, reply_to_message_id, thread_root_message_id, message_id }: any) =>
          `${output.content} of ${sender_session_id ?? sender.id} in ` +
          `${number(thread_root_message_id ?? message_id)} to ${number(reply_to_message_id)}`,
      ),
      turns: leases
        .map((lease: any) =>
          lineOf({
            root: number(lease.thread_root_message_id),
            holder: lease.holder_session_id,
            origin: number(lease.origin_message_id),
            human: number(lease.current_human_origin_message_id),
            called: number(lease.last_human_message_id),
            queue: lease.queued_candidate_session_ids,
          }),
        )
        .toSorted(byText),
      asked: [...mine.map(({ name }) => name).toSorted(byText), ...faults],
    },
  }
}

/** Messages of one thread stand in the order in which they were said. */
const orderFaults = (said: any[], number: (id: string) => number | null | undefined): string[] => {
  const last = new Map<string, number>()
  return said.flatMap(({ message_id, thread_root_message_id = message_id }) => {
    const [at, before] = [number(message_id) ?? -1, last.get(thread_root_message_id) ?? -1]
    last.set(thread_root_message_id, at)
    return before > at ? [`m${at} stands behind m${before}`] : []
  })
}

/** No turn without a run that goes on, and no run of a turn that goes on without its turn. */
export const checkRuns = async ({ stage, id }: Play, turns: readonly string[]): Promise<void> => {
  const runs = await call(stage, 'GET', '/v1/runs?priority_active=true&limit=100')
  const open = runs
    .filter(({ session_id, finished_at_ms }: any) => session_id.startsWith(id) && finished_at_ms === undefined)
    .map(({ run_id }: any) => run_id)
  const [left, right] = [open.toSorted(byText).join(), turns.toSorted(byText).join()]
  if (left !== right) throw new Error(`runs that go on: ${left}; runs of turns: ${right}`)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const patienceMs = Number(process.env['MODEL_PATIENCE_MS'] ?? 20_000)

/** Waits until the daemon shows what the model says. */
export const agree = async (play: Play, { runs }: { runs: boolean }): Promise<void> => {
  const wanted = expected(play)
  const text = JSON.stringify(wanted)
  const until = performance.now() + patienceMs
  for (let ms = 1; ; ms = Math.min(ms * 2, 50)) {
    const waits = wanted.asked.some((name) => !play.stage.asked.has(name))
    const look = waits && performance.now() < until ? undefined : await observed(play)
    if (look !== undefined && JSON.stringify(look.seen) === text) {
      if (look.orders.length > 0) throw new Error(look.orders.join())
      if (runs) await checkRuns(play, look.runs)
      return
    }
    if (look !== undefined && performance.now() > until) throw new Error(differences(wanted, look.seen))
    await pause(ms)
  }
}

const differences = (model: Record<string, string[]>, daemon: Record<string, string[]>): string =>
  Object.keys(model)
    .map((name) => {
      const lines = (from: string[] = [], other: string[] = []): string =>
        from.filter((line) => !other.includes(line)).join('\n    ')
      return [
        `${name} by the model alone:\n    ${lines(model[name], daemon[name])}`,
        `${name} by the daemon alone:\n    ${lines(daemon[name], model[name])}`,
      ].join('\n')
    })
    .join('\n')
