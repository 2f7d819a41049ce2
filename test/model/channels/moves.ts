/** What may happen in a channel: each move is made to the daemon and to the model. Chance alone chooses among them. */
import type { Random } from '../../faults/random.js'
import { call, type Play } from './stage.js'
import { endTurn, expire, modes, openChannel, remove, say, spokenIn, turnsOf, type Member, type Mode } from './talk.js'

/** Tells what it did, or undefined if there was nothing to do. */
export type Move = (play: Play, random: Random) => Promise<string | undefined>

const pick = <T>(random: Random, items: readonly T[]): T | undefined => items[random.below(Math.max(1, items.length))]
const pathOf = ({ id }: Play, rest: string): string => `/v1/channels/${id}${rest}`
const mostThreads = 3
const askable: readonly [Mode, ...Mode[]] = ['selected_only', 'prefer_selected', 'always_listen']

export const memberBody = (name: string, { mode, muted }: Member) => ({
  member_id: name,
  member_kind: 'session',
  display_name: name,
  participation_mode: mode,
  muted,
})
const upsert = (play: Play, name: string, member: Member) =>
  call(play.stage, 'POST', pathOf(play, '/members'), memberBody(name, member))

const names = ({ id }: Play): string[] => ['a', 'b', 'c', 'd', 'e'].map((letter) => `${id}${letter}`)
const members = ({ model }: Play): string[] => [...model.members.keys()]

const post: Move = async (play, random) => {
  const { model, stage, ids } = play
  const roots = [...model.threads.keys()]
  const isRoot = roots.length === 0 || (roots.length < mostThreads && random.chance(0.3))
  const thread = isRoot ? undefined : pick(random, roots)
  const reply = thread !== undefined && random.chance(0.4) ? pick(random, spokenIn(model, thread)) : undefined
  const addressed = random.chance(0.3)
    ? [...new Set([pick(random, ['ann', ...members(play)]), pick(random, ['ann', ...members(play)])])]
    : []
  const addressed_member_ids = addressed.filter((name) => name !== undefined)
  const at = say(model, { thread, reply, addressed: addressed_member_ids })
  await call(stage, 'POST', pathOf(play, '/messages'), {
    sender_actor_id: 'ann',
    content: `m${at}`,
    addressed_member_ids,
    ...(reply !== undefined && { reply_to_message_id: ids[reply] }),
    ...(reply === undefined && thread !== undefined && { thread_root_message_id: ids[thread] }),
  })
  return `m${at} in ${model.messages[at]?.root}, to ${reply}, for ${addressed.join(' ')}`
}

/** One of those who are asked answers. Which of its turns it is about follows from what it was asked. */
const answer: Move = async (play, random) => {
  const { model, stage } = play
  const holder = pick(random, [...new Set(turnsOf(model).map((turn) => turn.holder))])
  const asked = holder === undefined ? undefined : stage.asked.get(holder)
  if (holder === undefined || asked === undefined) return undefined
  const turn = turnsOf(model, holder).find(({ origin }) => origin === asked.message)
  if (turn === undefined) throw new Error(`${holder} is asked about m${asked.message}`)
  const speaks = random.chance(0.6)
  asked.answer(speaks ? `m${model.messages.length}` : undefined)
  endTurn(model, turn.root, { holder, speaks })
  return `${holder} ${speaks ? 'answers' : 'is silent about'} m${asked.message}`
}

const mute: Move = async (play, random) => {
  const name = pick(random, members(play))
  const member = name === undefined ? undefined : play.model.members.get(name)
  if (name === undefined || member === undefined) return undefined
  member.muted = !member.muted
  await upsert(play, name, member)
  return `${name} is ${member.muted ? '' : 'not '}muted`
}

const mode: Move = async (play, random) => {
  const name = pick(random, members(play))
  const member = name === undefined ? undefined : play.model.members.get(name)
  if (name === undefined || member === undefined) return undefined
  member.mode = random.pick(modes)
  await upsert(play, name, member)
  return `${name} is ${member.mode}`
}

const pause: Move = async (play) => {
  play.model.paused = !play.model.paused
  await call(play.stage, 'PUT', pathOf(play, ''), { paused: play.model.paused })
  return play.model.paused ? 'pause' : 'go on'
}
const goOn: Move = async (play, random) => (play.model.paused ? pause(play, random) : undefined)

const leave: Move = async (play, random) => {
  const name = pick(random, members(play))
  // Which of its threads is passed on first is nobody's promise, and counts of runs decide by it.
  if (name === undefined || turnsOf(play.model, name).length > 1) return undefined
  remove(play.model, name)
  await call(play.stage, 'DELETE', pathOf(play, `/members/${name}`))
  return `${name} leaves`
}

const join: Move = async (play, random) => {
  const name = pick(
    random,
    names(play).filter((one) => !play.model.members.has(one)),
  )
  if (name === undefined) return undefined
  const member = { mode: random.pick(askable), muted: false }
  play.model.members.set(name, member)
  await upsert(play, name, member)
  return `${name} joins as ${member.mode}`
}

/** To what was said since a person spoke last: whether others count is nobody's promise. */
const react: Move = async (play, random) => {
  const { model, stage, ids } = play
  const name = pick(random, members(play))
  const root = pick(random, [...model.threads.keys()])
  if (name === undefined || root === undefined) return undefined
  const said = spokenIn(model, root)
  const human = said.findLast((at) => model.messages[at]?.author === undefined) ?? 0
  const at = pick(
    random,
    said.filter((one) => one >= human),
  )
  if (at === undefined) return undefined
  model.messages[at]?.reactors.add(name)
  await call(stage, 'POST', pathOf(play, `/messages/${ids[at]}/reactions`), { actor_id: name, emoji: '👍' })
  return `${name} reacts to m${at}`
}

/** Where several turns go on, the order in which they end is nobody's promise. */
const tooLong: Move = async ({ model, stage }) => {
  const [turn, ...others] = turnsOf(model)
  if (turn === undefined || others.length > 0) return undefined
  stage.clock.leap(61_000)
  expire(model, turn.root, turn.holder)
  return `${turn.holder} takes too long`
}

const restart: Move = async ({ stage }) => {
  await stage.restart()
  return 'restart'
}

const weights: readonly (readonly [number, Move])[] = [
  [24, post],
  [60, answer],
  [3, mute],
  [3, mode],
  [1, pause],
  [6, goOn],
  [2, leave],
  [4, join],
  [4, react],
  [3, tooLong],
]
const moves = weights.flatMap(([weight, move]) => Array.from({ length: weight }, () => move))

export const nextMove = (random: Random, restarts: boolean): Move =>
  restarts && random.chance(0.08) ? restart : (pick(random, moves) ?? post)

/** All who are asked answer, until nobody is. */
export const answers = answer

/** A channel of chance. */
export const openPlay = async (stage: Play['stage'], id: string, random: Random): Promise<Play> => {
  const count = random.pick([1, 2, 3, 3, 4, 4, 5])
  const policy = {
    speakers: random.pick([1, 1, 1, 2, 3]),
    budget: random.pick([1, 2, 3, 3, 5, 8]),
    cooldown: random.chance(0.3),
  }
  const known = new Map<string, Member>()
  const play: Play = { stage, id, model: openChannel(policy, known), ids: [] }
  for (const name of names(play)) await call(stage, 'POST', '/v1/sessions', { session_id: name })
  for (const name of names(play).slice(0, count))
    play.model.members.set(name, {
      mode: random.chance(0.1) ? 'manual_only' : random.pick(askable),
      muted: random.chance(0.05),
    })
  await call(stage, 'POST', '/v1/channels', {
    channel_id: id,
    title: 'The garden',
    members: [
      { member_id: 'ann', member_kind: 'human_actor', display_name: 'Ann' },
      ...[...play.model.members].map(([name, member]) => memberBody(name, member)),
    ],
    autonomy_policy: {
      max_parallel_public_speakers: policy.speakers,
      max_agent_replies_per_human_message: policy.budget,
      member_cooldown_ms: policy.cooldown ? 1_000_000_000 : 0,
    },
  })
  return play
}
