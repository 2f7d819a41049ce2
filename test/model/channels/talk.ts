/**
 * Who speaks in a channel, as its texts say it and as nobody's code does: no clock, no runs, no records. Messages are
 * numbers, in the order in which they were said; a session is a member of the same name.
 */
export type Mode = 'manual_only' | 'selected_only' | 'prefer_selected' | 'always_listen'
export const modes: readonly [Mode, ...Mode[]] = ['selected_only', 'prefer_selected', 'always_listen', 'manual_only']

export interface Policy {
  readonly speakers: number
  readonly budget: number
  /** True: who has spoken in a thread is left out there for ever, unless it comes first. False: nobody is. */
  readonly cooldown: boolean
}
export interface Member {
  mode: Mode
  muted: boolean
}
export interface Message {
  /** The message that opened its thread, which may be itself. */
  readonly root: number
  /** Undefined for a person. */
  readonly author: string | undefined
  readonly reply: number | undefined
  readonly reactors: Set<string>
}
export interface Turn {
  readonly holder: string
  /** What it answers. */
  readonly origin: number
  /** The message of the person from which its thread counts. */
  readonly human: number
  queue: readonly string[]
}
export interface Thread {
  readonly root: number
  turns: Turn[]
  /** Who comes first. */
  first: string[]
  /** The last message of a person that called. */
  called: number
  /** Whose turn about the last call began or ended since somebody spoke last, and who that was. */
  readonly asked: Set<string>
}
export interface Channel {
  readonly policy: Policy
  readonly members: Map<string, Member>
  readonly messages: Message[]
  readonly threads: Map<number, Thread>
  paused: boolean
}

export const openChannel = (policy: Policy, members: ReadonlyMap<string, Member>): Channel => ({
  policy,
  members: new Map(members),
  messages: [],
  threads: new Map(),
  paused: false,
})

export const turnsOf = ({ threads }: Channel, name?: string): (Turn & { readonly root: number })[] =>
  [...threads.values()].flatMap(({ turns, root }) =>
    turns.filter(({ holder }) => name === undefined || holder === name).map((turn) => ({ ...turn, root })),
  )

/** The numbers of the messages of a thread. */
export const spokenIn = ({ messages }: Channel, root: number): number[] =>
  messages.flatMap((message, at) => (message.root === root ? [at] : []))

const authorOf = ({ messages }: Channel, at: number | undefined): string | undefined =>
  at === undefined ? undefined : messages[at]?.author
const holds = ({ turns }: Thread, name: string): boolean => turns.some(({ holder }) => holder === name)
const mayBeAsked = ({ members }: Channel, name: string): boolean => {
  const member = members.get(name)
  return member !== undefined && !member.muted && member.mode !== 'manual_only'
}

const lastIn = (channel: Channel, thread: Thread, name: string): number =>
  spokenIn(channel, thread.root).findLast((at) => authorOf(channel, at) === name) ?? -1

/** Seven things, each smaller where a session is to be asked sooner. */
const placeOf = (channel: Channel, thread: Thread, name: string): readonly number[] => {
  const behind = spokenIn(channel, thread.root).filter((at) => at >= thread.called)
  const first = thread.first.indexOf(name)
  const mode = channel.members.get(name)?.mode
  const isSelected = mode === 'selected_only' || (mode === 'prefer_selected' && first >= 0)
  return [
    first < 0 ? Infinity : first,
    Number(behind.some((at) => authorOf(channel, at) === name)),
    Number(behind.some((at) => channel.messages[at]?.reactors.has(name) === true)),
    isSelected ? 0 : 1,
    -lastIn(channel, thread, name),
    turnsOf(channel, name).length,
  ]
}
const before = (left: readonly number[], right: readonly number[]): number => {
  const at = left.findIndex((value, place) => value !== right[place])
  return at < 0 ? 0 : (left[at] ?? 0) < (right[at] ?? 0) ? -1 : 1
}

/** Those who may be asked in a thread, the first one first. */
export const ranked = (channel: Channel, thread: Thread): string[] =>
  [...channel.members.keys()]
    .filter((name) => mayBeAsked(channel, name) && !holds(thread, name))
    .filter((name) => !channel.policy.cooldown || thread.first.includes(name) || lastIn(channel, thread, name) < 0)
    .map((name) => ({ name, place: placeOf(channel, thread, name) }))
    .toSorted((left, right) => before(left.place, right.place) || (left.name < right.name ? -1 : 1))
    .map(({ name }) => name)

/** How many more turns may begin in a thread: messages that may follow, less those that may come from who is asked. */
const left = (channel: Channel, thread: Thread, human: number): number => {
  const replies = spokenIn(channel, thread.root).filter((at) => at > human && authorOf(channel, at) !== undefined)
  const { budget, speakers } = channel.policy
  return Math.min(budget - replies.length - thread.turns.length, speakers - thread.turns.length)
}

const waiting = ({ policy }: Channel, names: readonly string[]): string[] =>
  names.slice(0, Math.min(policy.budget * 4, 256))

const begin = (thread: Thread, turn: Turn): void => {
  for (const other of thread.turns) other.queue = other.queue.filter((name) => name !== turn.holder)
  thread.turns.push(turn)
  thread.asked.add(turn.holder)
}

interface Said {
  readonly thread?: number | undefined
  readonly reply?: number | undefined
  readonly addressed?: readonly string[]
}

const isMember = (channel: Channel, name: string | undefined): name is string =>
  name !== undefined && channel.members.has(name)

/** Who comes first for a message that was just said. */
const firstFor = (channel: Channel, { reply, addressed = [] }: Said, thread: Thread): string[] => {
  const at = channel.messages.length - 1
  const named = addressed.filter((name) => isMember(channel, name))
  if (named.length > 0) return named
  const agents = (numbers: readonly number[]): string | undefined =>
    authorOf(
      channel,
      numbers.findLast((one) => one < at && authorOf(channel, one) !== undefined),
    )
  const anywhere = thread.root === at ? agents([...channel.messages.keys()]) : undefined
  for (const name of [authorOf(channel, reply), agents(spokenIn(channel, thread.root)), anywhere])
    if (isMember(channel, name)) return [name]
  return thread.turns.length > 0 ? thread.first : []
}

/** As many of these as may have turns about the message that called, and the others wait. */
const call = (channel: Channel, thread: Thread, names: string[]): void => {
  const { called } = thread
  for (const holder of names.splice(0, Math.max(0, left(channel, thread, called))))
    begin(thread, { holder, origin: called, human: called, queue: [] })
  for (const turn of thread.turns) turn.queue = waiting(channel, names)
}

/** A person says something. */
export const say = (channel: Channel, said: Said): number => {
  const at = channel.messages.length
  const root = (said.reply === undefined ? said.thread : channel.messages[said.reply]?.root) ?? at
  channel.messages.push({ root, author: undefined, reply: said.reply, reactors: new Set() })
  const thread = channel.threads.get(root) ?? { root, turns: [], first: [], called: -1, asked: new Set() }
  channel.threads.set(root, thread)
  if (channel.paused) return at
  thread.asked.clear()
  thread.first = firstFor(channel, said, thread)
  thread.called = at
  call(channel, thread, ranked(channel, thread))
  return at
}

interface Ending {
  readonly turn: Turn
  /** What the next one is to answer if no person has spoken meanwhile. */
  readonly origin: number
  /** True: its holder comes back in no case. */
  readonly isLate: boolean
}

/** Asks the next one behind a turn that is no longer one. */
const passOn = (channel: Channel, thread: Thread, { turn, origin, isLate }: Ending): boolean => {
  if (channel.paused || left(channel, thread, thread.called) <= 0) return false
  const isNewer = thread.called !== turn.human
  const without = isNewer && !isLate && thread.first[0] === turn.holder ? undefined : turn.holder
  const fresh = ranked(channel, thread).filter((name) => name !== without)
  const may = (name: string): boolean => name !== without && mayBeAsked(channel, name) && !holds(thread, name)
  const kept = isNewer ? fresh : turn.queue.filter(may)
  const names = kept.length > 0 ? kept : fresh.filter((name) => !thread.asked.has(name))
  const [holder, ...others] = names
  if (holder === undefined) return false
  const queue = waiting(channel, others)
  begin(thread, { holder, origin: isNewer ? thread.called : origin, human: thread.called, queue })
  return true
}

const without = (thread: Thread, turn: Turn): void => {
  thread.turns = thread.turns.filter((one) => one !== turn)
}
const find = ({ threads }: Channel, root: number, holder: string): { thread: Thread; turn: Turn } | undefined => {
  const thread = threads.get(root)
  const turn = thread?.turns.find((one) => one.holder === holder)
  return thread === undefined || turn === undefined ? undefined : { thread, turn }
}

interface TurnEnd {
  readonly holder: string
  readonly speaks: boolean
}

/** A turn ends: its holder says something, or nothing. */
export const endTurn = (channel: Channel, root: number, { holder, speaks }: TurnEnd): void => {
  const found = find(channel, root, holder)
  if (found === undefined) return
  const { thread, turn } = found
  without(thread, turn)
  let origin = turn.origin
  if (speaks && channel.members.has(holder)) {
    origin = channel.messages.length
    channel.messages.push({ root, author: holder, reply: turn.origin, reactors: new Set() })
    thread.asked.clear()
  }
  if (turn.human === thread.called) thread.asked.add(holder)
  passOn(channel, thread, { turn, origin, isLate: false })
}

/** A turn has taken too long: it passes to the next one, or goes on where there is none. */
export const expire = (channel: Channel, root: number, holder: string): void => {
  const found = find(channel, root, holder)
  if (found === undefined) return
  const { thread, turn } = found
  const { turns } = thread
  without(thread, turn)
  if (!passOn(channel, thread, { turn, origin: turn.origin, isLate: true })) thread.turns = turns
  else if (turn.human === thread.called) thread.asked.add(holder)
}

/** Behind one who leaves the message of the person calls again those who had no turn since somebody spoke. */
const callAgain = (channel: Channel, thread: Thread, turn: Turn): void => {
  without(thread, turn)
  if (channel.paused) return
  call(
    channel,
    thread,
    ranked(channel, thread).filter((name) => !thread.asked.has(name)),
  )
}

export const remove = (channel: Channel, name: string): void => {
  channel.members.delete(name)
  for (const thread of channel.threads.values()) {
    for (const turn of thread.turns) turn.queue = turn.queue.filter((one) => one !== name)
    thread.first = thread.first.filter((one) => one !== name)
  }
  for (const { root } of turnsOf(channel, name)) {
    const found = find(channel, root, name)
    if (found !== undefined) callAgain(channel, found.thread, found.turn)
  }
}
