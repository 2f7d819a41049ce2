/** What is said in channels, from the command line. */
import {
  array,
  defineCommand,
  isJsonObject,
  parse,
  type Command,
  type CommandInput,
  type Json,
} from '../../../core/plugin.js'
import { messageText, ShownMessage } from './terminal/message-text.js'
import { namesIn, speakersOf } from './terminal/names-in.js'

const route = '/v1/channels/{channel_id}/messages'
const channelOf = ({ args }: CommandInput): string => `/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}`
const pathOf = (input: CommandInput): string => `${channelOf(input)}/messages`

/** Messages with the names of people, who speak under an id alone, for people; for programs as they are. */
const named = async (input: CommandInput, answer: Json): Promise<Json> => {
  if (input.output === 'json') return answer
  const all = Array.isArray(answer) ? answer : [answer]
  const shown = all.flatMap((message) => {
    const found = parse(ShownMessage, message)
    return found.ok ? [found.value] : []
  })
  const people = await namesIn(input, speakersOf(shown))
  const whole = all.map((message) => withName(message, people))
  return Array.isArray(answer) ? whole : (whole[0] ?? answer)
}

const withName = (message: Json, people: ReadonlyMap<string, string>): Json => {
  const found = parse(ShownMessage, message)
  if (!found.ok || !isJsonObject(message) || !isJsonObject(message['sender'])) return message
  const { id, display_name = people.get(id) } = found.value.sender
  return display_name === undefined ? message : { ...message, sender: { ...message['sender'], display_name } }
}

const showMessage = (message: ShownMessage, columns: number): string =>
  messageText(message, { people: new Map(), columns, idFirst: true })
const showMessages = (messages: ShownMessage[], columns: number): string =>
  messages.length === 0 ? 'Nothing is said there.' : messages.map((one) => showMessage(one, columns)).join('\n')

const listFlags = {
  thread: { kind: 'text', value: 'message', summary: 'Only this message and those behind it.' },
  query: { kind: 'text', summary: 'Only those whose sender, words or names of files hold this text.' },
  limit: { kind: 'text', value: 'number', summary: 'Most messages, the newest.' },
  before: { kind: 'text', value: 'message', summary: 'Only messages that came before this one.' },
} as const
const asQuery = { thread: 'thread_root_message_id', query: 'query', limit: 'limit', before: 'before' } as const

const listed = (input: CommandInput): string => {
  const wishes = Object.entries(asQuery).flatMap(([flag, name]) => {
    const value = input.flags[flag]
    return typeof value === 'string' ? [`${name}=${encodeURIComponent(value)}`] : []
  })
  return wishes.length === 0 ? pathOf(input) : `${pathOf(input)}?${wishes.join('&')}`
}

const reaction = (word: 'react' | 'unreact'): Command =>
  defineCommand({
    path: ['channels', word],
    route: `${word === 'react' ? 'POST' : 'DELETE'} ${route}/{message_id}/reactions`,
    summary: word === 'react' ? 'Gives a message an emoji of a member.' : 'Takes an emoji of a member back.',
    args: ['channel_id', 'message_id', 'actor_id', 'emoji'],
    run: async (input) =>
      named(
        input,
        await input.client.send(
          word === 'react' ? 'POST' : 'DELETE',
          `${pathOf(input)}/${encodeURIComponent(input.args['message_id'] ?? '')}/reactions`,
          { actor_id: input.args['actor_id'] ?? '', emoji: input.args['emoji'] ?? '' },
        ),
      ),
    answer: ShownMessage,
    show: showMessage,
  })

export const messageCommands: readonly Command[] = [
  defineCommand({
    path: ['channels', 'messages', 'list'],
    route: `GET ${route}`,
    summary: 'The newest messages of a channel, in the order in which they came.',
    args: ['channel_id'],
    flags: listFlags,
    fields: { 'query.thread_root_message_id': '--thread' },
    run: async (input) => named(input, await input.client.get(listed(input))),
    answer: array(ShownMessage),
    show: showMessages,
  }),
  defineCommand({
    path: ['channels', 'post'],
    route: `POST ${route}`,
    summary: 'Says something in a channel, as one of its members: actor_id is the id of a member.',
    args: ['channel_id', 'actor_id', 'content'],
    flags: {
      session: { kind: 'text', summary: 'The session that says it; a person does when absent.' },
      thread: { kind: 'text', value: 'message', summary: 'The message that opens the thread.' },
      'reply-to': { kind: 'text', value: 'message', summary: 'The message that is answered.' },
      to: { kind: 'text', value: 'member,…', summary: 'Members that are asked first, in order.' },
    },
    fields: {
      'body.sender_actor_id': '<actor_id>',
      'body.sender_session_id': '--session',
      'body.thread_root_message_id': '--thread',
      'body.reply_to_message_id': '--reply-to',
      'body.addressed_member_ids': '--to',
    },
    run: async (input) => {
      const { session, thread, 'reply-to': reply, to } = input.flags
      const posted = await input.client.send('POST', pathOf(input), {
        sender_actor_id: input.args['actor_id'] ?? '',
        content: input.args['content'] ?? '',
        ...(typeof session === 'string' && { sender_session_id: session }),
        ...(typeof thread === 'string' && { thread_root_message_id: thread }),
        ...(typeof reply === 'string' && { reply_to_message_id: reply }),
        ...(typeof to === 'string' && { addressed_member_ids: to.split(',') }),
      })
      return named(input, posted)
    },
    answer: ShownMessage,
    show: showMessage,
  }),
  reaction('react'),
  reaction('unreact'),
]
