/** What members of a channel are called, for terminals. */
import { isLoss, open, parse, string, type CommandInput } from '../../../../core/plugin.js'
import type { ShownMessage } from './message-text.js'

const Named = open({ display_name: string() })

/** The names of those who have these ids, each asked for once; whoever is no member has none. */
export const namesIn = async (
  { client, args }: CommandInput,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> => {
  const channel = `/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}`
  const names = new Map<string, string>()
  for (const id of new Set(ids)) {
    const found = parse(Named, await client.get(`${channel}/members/${encodeURIComponent(id)}`).catch(noneUnlessLost))
    if (found.ok) names.set(id, found.value.display_name)
  }
  return names
}

/** A daemon that goes away says nothing of a member. */
const noneUnlessLost = (error: unknown): null => {
  if (isLoss(error)) throw error
  return null
}

/** Ids of those who said something and no name with it. */
export const speakersOf = (messages: readonly ShownMessage[]): readonly string[] =>
  messages.flatMap(({ sender }) => (sender.display_name === undefined ? [sender.id] : []))
