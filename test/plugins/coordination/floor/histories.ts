/** Random histories of a channel: what holds of the floor at every moment, and that everything comes to an end. */
import { rmSync } from 'node:fs'
import fc from 'fast-check'
import type { ExecutionContext } from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'
import { ann, bot, channel, eventually, handsOf, scripted } from './bots.js'
import { openInside, type Inside } from './inside.js'

const bots = ['A', 'B', 'C', 'D'] as const
const Bot = fc.constantFrom(...bots)
type Bot = (typeof bots)[number]
type Step =
  | { readonly do: 'post'; readonly thread: number; readonly to: Bot | null }
  | { readonly do: 'mute'; readonly who: Bot; readonly muted: boolean }
  | { readonly do: 'pause'; readonly paused: boolean }
  | { readonly do: 'remove' | 'end'; readonly who: Bot }
  | { readonly do: 'leap' | 'wait'; readonly ms: number }
  | { readonly do: 'cancel'; readonly at: number }
  | { readonly do: 'restart' }
const is = <const D extends Step['do']>(what: D) => fc.constant(what)
const Step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: is('post'), thread: fc.nat(2), to: fc.option(Bot) }) },
  { weight: 2, arbitrary: fc.record({ do: is('mute'), who: Bot, muted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: is('pause'), paused: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'end' as const), who: Bot }) },
  { weight: 2, arbitrary: fc.record({ do: is('leap'), ms: fc.constantFrom(5_000, 61_000) }) },
  { weight: 2, arbitrary: fc.record({ do: is('cancel'), at: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ do: is('wait'), ms: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ do: is('restart') }) },
)
export const History = (length: number) =>
  fc.record({
    speakers: fc.integer({ min: 1, max: 3 }),
    replies: fc.integer({ min: 1, max: 4 }),
    cooldown: fc.constantFrom(0, 15_000),
    seed: fc.nat(1_000),
    steps: fc.array(Step, { minLength: 5, maxLength: length }),
  })
type History = typeof History extends (length: number) => fc.Arbitrary<infer H> ? H : never

/** What is wrong now; undefined if nothing is. */
const faultIn = ({ runs, leases, channels }: Inside, { speakers, replies }: History): string | undefined => {
  const all = leases.list({ index: 'all', group: 'all', limit: 1_000 })
  const threads = new Map<string, number>()
  for (const { active_run_id, thread_root_message_id: root } of all) {
    const run = runs.find(active_run_id)
    if (run === undefined) return `there is no run ${active_run_id} of a lease`
    threads.set(root, (threads.get(root) ?? 0) + 1)
  }
  for (const [root, count] of threads) if (count > speakers) return `${count} speak in the thread ${root}`
  const messages = channels.messages({ channel_id: 'garden', limit: 10_000 }).toReversed()
  const behind = new Map<string, number>()
  for (const { root_message_id: root, sender_session_id } of messages) {
    const count = sender_session_id === undefined ? 0 : (behind.get(root) ?? 0) + 1
    if (count > replies) return `${count} messages of agents follow one of a person in ${root}`
    behind.set(root, count)
  }
  const answered = messages.flatMap(({ metadata }) => metadata?.['source_run_id'] ?? [])
  return new Set(answered).size === answered.length ? undefined : 'a run has said two things'
}

/** Turns that are not as they must be, as they may be for a moment while one is settled or ended. */
const unsettled = ({ runs, leases, lost }: Inside): string[] => {
  const isOpen = (run_id: string): boolean => leases.count('run', run_id) === 0 && !lost.has(run_id)
  const turns = runs.open().filter((run_id) => runs.find(run_id)?.kind === 'channel_delivery')
  const ended = leases
    .list({ index: 'all', group: 'all', limit: 1_000 })
    .filter(({ active_run_id }) => 'finished_at_ms' in (runs.find(active_run_id) ?? { finished_at_ms: 0 }))
  return [...turns.filter(isOpen), ...ended.map(({ turn_id }) => turn_id)]
}

/** As good as chance, and the same each time. */
const chooser = (seed: number) => {
  let state = seed + 1
  return (below: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

export const play = async (t: ExecutionContext, history: History): Promise<{ said: number; turns: number }> => {
  const root = await freshRoot()
  const clock = createLeapingClock()
  const choose = chooser(history.seed)
  const { inside, shipped } = await openInside()
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const script = async ({ bot: name }: { bot: string }) => {
    await pause(choose(12))
    return choose(3) === 0 ? undefined : `${name} says ${choose(1_000)}`
  }
  const open = async () => {
    const model = scripted({ script })
    const daemon = await startTestDaemon(t, {
      root,
      clock,
      shipped,
      plugins: [model.plugin],
      config: model.config,
    })
    return { ...daemon, ...handsOf(daemon) }
  }
  let daemon = await open()
  for (const session_id of bots) await daemon.request('POST', '/v1/sessions', { session_id })
  const { speakers, replies, cooldown } = history
  await daemon.request('POST', '/v1/channels', {
    channel_id: 'garden',
    title: 'The garden',
    members: [ann, ...bots.map((name) => bot(name, { participation_mode: 'always_listen' }))],
    autonomy_policy: {
      max_parallel_public_speakers: speakers,
      max_agent_replies_per_human_message: replies,
      member_cooldown_ms: cooldown,
    },
  })
  const roots: string[] = []
  const check = async (): Promise<void> => {
    const fault = faultIn(inside, history)
    if (fault !== undefined) throw new Error(fault)
    const doubtful = unsettled(inside)
    if (doubtful.length === 0) return
    await eventually(
      async () => unsettled(inside).filter((id) => doubtful.includes(id)),
      (still) => still.length === 0,
    )
  }
  const take = async (one: Step): Promise<void> => {
    const { request } = daemon
    switch (one.do) {
      case 'post': {
        const root_id = roots[one.thread]
        const { message_id } = await daemon.post('Well?', {
          ...(root_id !== undefined && { thread_root_message_id: root_id }),
          ...(one.to !== null && inside.channels.member('garden', one.to) && { addressed_member_ids: [one.to] }),
        })
        if (root_id === undefined) roots.push(message_id)
        return
      }
      case 'mute':
        return void (await request('POST', `${channel}/members`, bot(one.who, { muted: one.muted })))
      case 'pause':
        return void (await request('PUT', channel, { paused: one.paused }))
      case 'remove':
        return void (await request('DELETE', `${channel}/members/${one.who}`))
      case 'end':
        await request('POST', `/v1/sessions/${one.who}/end`, {})
        return void (await request('POST', '/v1/sessions', { session_id: one.who }))
      case 'leap':
        return clock.leap(one.ms)
      case 'cancel': {
        const lease = (await daemon.leases())[one.at]
        if (lease !== undefined) await request('POST', `/v1/runs/${lease.active_run_id}/cancel`, {})
        return
      }
      case 'wait':
        return pause(one.ms)
      case 'restart':
        await daemon.stop()
        daemon = await open()
    }
  }
  try {
    for (const one of history.steps) {
      await take(one)
      await check()
    }
    await eventually(
      async () => {
        await check()
        return inside.leases.count('all', 'all') + inside.calls.count('all', 'all') + inside.runs.open().length
      },
      (left) => left === 0,
    )
    const messages = inside.channels.messages({ channel_id: 'garden', limit: 10_000 })
    return {
      said: messages.filter(({ sender_session_id }) => sender_session_id !== undefined).length,
      turns: (await daemon.turns()).length,
    }
  } finally {
    await daemon.stop()
    clock.clear()
    rmSync(root, { recursive: true, force: true })
  }
}
