/** Talk in channels of a real process that is killed at moments of chance. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPause } from '../../support/pause.js'
import { spawnDaemon, type SpawnedDaemon } from '../../support/daemon.js'
import type { Random } from '../../faults/random.js'
import { answerTo } from './bot-server.js'
import { memberBody } from './moves.js'
import { endTurn, openChannel, say, spokenIn, turnsOf, type Channel, type Member, type Policy } from './talk.js'

export interface Room {
  readonly id: string
  readonly policy: Policy
  /** Says who speaks; undefined where several do at once, in which order nobody can know. */
  readonly model: Channel | undefined
  /** What was said, by the numbers of the model. */
  readonly texts: string[]
  posts: number
}

export const serve = (root: string, url: string): Promise<SpawnedDaemon> =>
  spawnDaemon({
    root,
    flags: ['--provider', 'openai_compatible', '--provider-base-url', url, '--model', 'm', '--log-level', 'error'],
  })

/** Deaths put no run aside. */
export const configure = (root: string): void => {
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'config', 'runs.toml'), 'max_unclean_boots = 1000000\n')
}

const call = async ({ request }: SpawnedDaemon, ...[method, path, body]: any[]): Promise<any> => {
  const answer = await request(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}

/** Rooms in which one speaks at a time, and in each third one several do. */
export const openRooms = async (daemon: SpawnedDaemon, random: Random, numbers: readonly number[]): Promise<Room[]> => {
  const rooms: Room[] = []
  for (const n of numbers) {
    const [id, isSingle] = [`k${n}`, n % 3 > 0]
    const policy = { speakers: isSingle ? 1 : 3, budget: random.pick([2, 3, 5, 8]), cooldown: random.chance(0.3) }
    const members = new Map<string, Member>()
    for (const letter of ['a', 'b', 'c', 'd'])
      members.set(`${id}${letter}`, { mode: random.pick(['selected_only', 'always_listen']), muted: false })
    for (const session_id of members.keys()) await call(daemon, 'POST', '/v1/sessions', { session_id })
    await call(daemon, 'POST', '/v1/channels', {
      channel_id: id,
      title: 'The garden',
      members: [
        { member_id: 'ann', member_kind: 'human_actor', display_name: 'Ann' },
        ...[...members].map(([name, member]) => memberBody(name, member)),
      ],
      autonomy_policy: {
        max_parallel_public_speakers: policy.speakers,
        max_agent_replies_per_human_message: policy.budget,
        member_cooldown_ms: policy.cooldown ? 1_000_000_000 : 0,
        lease_timeout_ms: 3_600_000,
      },
    })
    rooms.push({ id, policy, model: isSingle ? openChannel(policy, members) : undefined, texts: [], posts: 0 })
  }
  return rooms
}

const messagesOf = (daemon: SpawnedDaemon, { id }: Room): Promise<any[]> =>
  call(daemon, 'GET', `/v1/channels/${id}/messages`)

/** What is to be said next: behind a message, or nowhere yet. */
export interface Line {
  readonly content: string
  readonly reply: string | undefined
}

/** The next message of the person, said to the model and answered there by all whom it names. */
export const nextLine = (room: Room, random: Random): Line => {
  const { model, texts } = room
  const content = `m${(room.posts += 1)}`
  if (model === undefined) return { content, reply: room.posts > 1 && random.chance(0.7) ? 'm1' : undefined }
  const roots = [...model.threads.keys()]
  const root = roots.length > 0 && random.chance(0.7) ? roots[random.below(roots.length)] : undefined
  const said = root === undefined ? [] : spokenIn(model, root)
  const reply = root === undefined ? undefined : said[random.below(said.length)]
  texts[say(model, { reply })] = content
  for (let [turn] = turnsOf(model); turn !== undefined; [turn] = turnsOf(model)) {
    const answer = answerTo(turn.holder, texts[turn.origin] ?? '')
    if (answer !== undefined) texts[model.messages.length] = answer
    endTurn(model, turn.root, { holder: turn.holder, speaks: answer !== undefined })
  }
  return { content, reply: reply === undefined ? undefined : texts[reply] }
}

/** Says it, unless a life before did. */
export const post = async (daemon: SpawnedDaemon, room: Room, { content, reply }: Line): Promise<void> => {
  const said = await messagesOf(daemon, room)
  if (said.some(({ output }) => output.content === content)) return
  const parent = said.find(({ output }) => output.content === reply)
  await call(daemon, 'POST', `/v1/channels/${room.id}/messages`, {
    sender_actor_id: 'ann',
    content,
    ...(parent !== undefined && { reply_to_message_id: parent.message_id }),
  })
}

/** More messages of agents than may follow one of a person, and turns that spoke twice. */
export const faultsOf = async (daemon: SpawnedDaemon, room: Room): Promise<string[]> => {
  const said = await messagesOf(daemon, room)
  const counts = new Map<string, number>()
  const runs = said.flatMap(({ metadata }) => metadata?.source_run_id ?? [])
  const faults = runs.length === new Set(runs).size ? [] : [`${room.id}: a run spoke twice`]
  for (const { message_id, thread_root_message_id: root = message_id, sender_session_id, output } of said) {
    const count = sender_session_id === undefined ? 0 : (counts.get(root) ?? 0) + 1
    counts.set(root, count)
    if (count > room.policy.budget) faults.push(`${room.id}: ${output.content} is beyond the budget`)
  }
  return faults
}

const patienceMs = 120_000

/** Waits until nobody has the floor and nothing runs. */
export const rest = async (daemon: SpawnedDaemon, rooms: readonly Room[]): Promise<void> => {
  const until = performance.now() + patienceMs
  for (const pause = createPause(); ; await pause()) {
    const runs = await call(daemon, 'GET', '/v1/runs?priority_active=true&limit=100')
    const isOver = runs.every(({ finished_at_ms }: any) => finished_at_ms !== undefined)
    const leases = await Promise.all(rooms.map(({ id }) => call(daemon, 'GET', `/v1/channels/${id}/leases`)))
    if (isOver && leases.flat().length === 0) return
    if (performance.now() > until) throw new Error(`it never rests: ${JSON.stringify({ runs, leases })}`)
  }
}

/** Who said what in which thread, as the daemon has it and as the model has it. */
export const talkOf = async (daemon: SpawnedDaemon, room: Room): Promise<{ daemon: string[]; model: string[] }> => {
  const { model, texts } = room
  const said = await messagesOf(daemon, room)
  const text = new Map(said.map(({ message_id, output }) => [message_id, output.content]))
  const byText = (left: string, right: string): number => (left < right ? -1 : 1)
  const threads = new Map<string, string[]>()
  for (const { message_id, thread_root_message_id: root = message_id, reply_to_message_id, output } of said) {
    const line = `${output.content} to ${text.get(reply_to_message_id)}`
    threads.set(root, [...(threads.get(root) ?? []), line])
  }
  const told = [...(model?.threads.keys() ?? [])].map((root) =>
    spokenIn(model ?? openChannel(room.policy, new Map()), root)
      .map((at) => `${texts[at]} to ${texts[model?.messages[at]?.reply ?? -1]}`)
      .join('; '),
  )
  return {
    daemon: [...threads.values()].map((lines) => lines.join('; ')).toSorted(byText),
    model: told.toSorted(byText),
  }
}
