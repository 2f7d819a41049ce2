/** `holdfast channels follow`: a channel while it goes on (floor-20). */
import {
  array,
  commandErrors,
  defineCommand,
  fault,
  folded,
  isLoss,
  open,
  parse,
  string,
  watchStanding,
  type Command,
  type CommandInput,
  type Json,
  type Standing,
} from '../../../../core/plugin.js'
import { messageText, namesIn, ShownMessage, speakersOf } from '../../channels/contract.js'
import {
  inOrder,
  Lease,
  namedIn,
  sceneText,
  type Scene,
  ShownChannel,
  Stimulus,
  Told,
  type Turn,
} from './follow-text.js'

/** Messages that stand there at first, those of one request, and those of one look. */
const [mostFirst, mostAsked, mostShown] = [20, 100, 1_000]
/** Turns and stimuli that are shown, and stimuli among which those are found that are due first. */
const [mostTurns, mostStimuli, mostSought] = [5, 5, 100]

const pathOf = ({ args }: CommandInput): string => `/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}`

const waitingPath = (input: CommandInput): string => `${pathOf(input)}/stimuli?state=pending&limit=${mostSought}`

const readChannel = async (input: CommandInput): Promise<ShownChannel> => {
  const channel = parse(ShownChannel, await input.client.get(pathOf(input)))
  if (!channel.ok) throw fault('the daemon answered with no channel')
  return channel.value
}

/** What a plugin tells that may be off: undefined then. A daemon that goes away is no such thing. */
const ifThere = async ({ client }: CommandInput, path: string): Promise<Json | undefined> => {
  try {
    return await client.get(path)
  } catch (error) {
    if (isLoss(error)) throw error
    return undefined
  }
}

const told = async (input: CommandInput, run_id: string): Promise<Turn['run']> => {
  const found = parse(Told, await ifThere(input, `/v1/explanations/${encodeURIComponent(run_id)}`))
  return found.ok ? found.value.subjects[0] : undefined
}

/** Why nobody has the floor; what waits to be said stands below. */
const readSilence = async (input: CommandInput): Promise<Scene['silence']> => {
  const reasons = (await told(input, `channel:${input.args['channel_id'] ?? ''}`))?.reasons ?? []
  return reasons.filter(({ code }) => code !== 'stimulus')
}

const readLeases = async (input: CommandInput): Promise<Lease[]> => {
  const leases = parse(array(Lease), await input.client.get(`${pathOf(input)}/leases`))
  return leases.ok ? leases.value : []
}

const askingPaths = ['waiting_for_approval', 'waiting_for_user_question'].map(
  (status) => `/v1/runs?status=${status}&limit=${mostAsked}`,
)

/** Runs that wait for a person. */
const readAsking = async (input: CommandInput): Promise<ReadonlySet<string>> => {
  const asking = new Set<string>()
  for (const path of askingPaths) {
    const runs = parse(array(open({ run_id: string() })), await ifThere(input, path))
    for (const { run_id } of runs.ok ? runs.value : []) asking.add(run_id)
  }
  return asking
}

const readStimuli = async (input: CommandInput, { moderation_metrics }: ShownChannel): Promise<Stimulus[]> => {
  if (moderation_metrics.pending_stimulus_count === 0) return []
  const found = parse(array(Stimulus), await ifThere(input, waitingPath(input)))
  const stimuli = found.ok ? found.value : []
  return stimuli.toSorted((one, other) => one.available_at_ms - other.available_at_ms).slice(0, mostStimuli)
}

/** What was shown last. */
interface Place {
  last: string | undefined
  readonly limit: number
}

interface News {
  readonly messages: readonly ShownMessage[]
  readonly isCut: boolean
}

const readPage = async (input: CommandInput, limit: number, before: string | undefined): Promise<ShownMessage[]> => {
  const beyond = before === undefined ? '' : `&before=${encodeURIComponent(before)}`
  const page = parse(array(ShownMessage), await input.client.get(`${pathOf(input)}/messages?limit=${limit}${beyond}`))
  if (!page.ok) throw fault('the daemon answered with no messages')
  return page.value
}

/** Those that came behind the last one that was shown, oldest first; at first the newest. */
const readNews = async (input: CommandInput, { last, limit }: Place): Promise<News> => {
  if (last === undefined) return { messages: await readPage(input, limit, undefined), isCut: false }
  const messages: ShownMessage[] = []
  for (let before: string | undefined; messages.length < mostShown; before = messages[0]?.message_id) {
    const page = await readPage(input, mostAsked, before)
    const news = page.filter(({ message_id }) => message_id > last)
    messages.unshift(...news)
    if (news.length < page.length || page.length < mostAsked) return { messages, isCut: false }
  }
  return { messages, isCut: true }
}

const newsText = async (input: CommandInput, { messages, isCut }: News): Promise<string[]> => {
  const people = await namesIn(input, speakersOf(messages))
  const columns = input.columns()
  return [
    ...(isCut ? ['… older ones are left out'] : []),
    ...messages.map((message) => messageText(message, { people, columns })),
  ]
}

/** What is there now, and what was shown last when that is shown. */
interface Look {
  readonly text: string
  readonly above: readonly string[]
  readonly last: string | undefined
}

const look = async (input: CommandInput, place: Place): Promise<Look> => {
  const channel = await readChannel(input)
  const leases = await readLeases(input)
  const shown = leases.length === 0 ? [] : inOrder(leases, await readAsking(input)).slice(0, mostTurns)
  const turns: Turn[] = []
  for (const lease of shown) turns.push({ lease, run: await told(input, lease.active_run_id) })
  const stimuli = await readStimuli(input, channel)
  const silence = turns.length > 0 || channel.paused ? [] : await readSilence(input)
  const names = await namesIn(input, shown.flatMap(namedIn))
  const scene = { channel, silence, turns, more: leases.length - shown.length, stimuli, names, now: input.now() }
  const text = sceneText(scene, input.columns())
  const { last_message_id: newest } = channel
  if (newest === undefined || newest === place.last) return { text, above: [], last: place.last }
  const news = await readNews(input, place)
  return {
    text,
    above: await newsText(input, news),
    last: news.messages.at(-1)?.message_id ?? place.last,
  }
}

const away = 'The daemon does not answer; it is tried again.'
const back = 'The daemon answers again.'
/** How long a look may take before that is said, and how long a script waits for a daemon; milliseconds. */
const [patienceMs, longestLossMs] = [5_000, 60_000]

/** A daemon that stands still does not answer either. */
const inTime = async (input: CommandInput, looking: Promise<Look>): Promise<Look> => {
  const done = new AbortController()
  const late = input.pause(patienceMs, AbortSignal.any([done.signal, input.signal])).then((): never => {
    throw commandErrors.daemon_unreachable({ details: { url: input.client.baseUrl } })
  })
  try {
    return await Promise.race([looking, late])
  } finally {
    looking.catch(() => {})
    late.catch(() => {})
    done.abort()
  }
}

/** Looks again and again, and says when the daemon goes and comes. */
const follow = async (input: CommandInput, place: Place): Promise<void> => {
  let [seen, lost]: [boolean, { readonly at: number } | undefined] = [false, undefined]
  let end: unknown
  const said = (sentence: string): string => folded(sentence, input.columns())
  const standing = async (): Promise<Standing> => {
    try {
      const { text, above, last } = await inTime(input, look(input, place))
      const lines = [...(lost === undefined ? [] : [said(back)]), ...above]
      place.last = last
      ;[seen, lost] = [true, undefined]
      return { text, isOver: false, ...(lines.length > 0 && { above: lines.join('\n') }) }
    } catch (error) {
      if (!seen || !isLoss(error)) throw error
      lost ??= { at: input.now() }
      if (input.attended || input.now() - lost.at <= longestLossMs) return { text: said(away), isOver: false }
      end = error
      return { text: said(away), isOver: true }
    }
  }
  await watchStanding(input, standing)
  if (end !== undefined) throw end
}

/** The same for programs, of one moment. */
const readAll = async (input: CommandInput, limit: number): Promise<Json> => ({
  channel: await input.client.get(pathOf(input)),
  leases: await input.client.get(`${pathOf(input)}/leases`),
  stimuli: (await ifThere(input, waitingPath(input))) ?? [],
  messages: await input.client.get(`${pathOf(input)}/messages?limit=${limit}`),
})

const run = async (input: CommandInput): Promise<Json | void> => {
  const place: Place = { last: undefined, limit: mostFirst }
  if (input.output === 'json') return readAll(input, mostFirst)
  if (input.flags['once'] !== true) return follow(input, place)
  const { text, above } = await look(input, place)
  input.print([...above, text].join('\n'))
}

export const followCommand: Command = defineCommand({
  path: ['channels', 'follow'],
  summary: 'A channel as it goes on: what is said, who has the floor, who is next, and what waits; until Ctrl-C.',
  args: ['channel_id'],
  flags: { once: { kind: 'switch', summary: 'Show it as it is, and end.' } },
  run,
})
