/** What is said in channels, from the command line. */
import {
  array,
  defineCommand,
  integer,
  open,
  optional,
  showTime,
  string,
  visibleBlock,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
} from '../../../core/plugin.js'

const route = '/v1/channels/{channel_id}/messages'
const pathOf = ({ args }: CommandInput): string =>
  `/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}/messages`

const Row = open({
  message_id: string(),
  thread_root_message_id: optional(string()),
  sender: open({ id: string(), display_name: optional(string()) }),
  output: open({ content: string() }),
  created_at_ms: integer(),
  reactions: optional(array(open({ emoji: string(), count: integer() }))),
})

const showMessage = (message: Infer<typeof Row>): string => {
  const { message_id, thread_root_message_id: root, sender, output, created_at_ms, reactions = [] } = message
  const given = reactions.map((one) => `${visibleLine(one.emoji)} ${one.count}`)
  return [
    [
      visibleLine(message_id),
      showTime(created_at_ms),
      visibleLine(sender.display_name ?? sender.id),
      ...(root === undefined ? [] : [`in the thread of ${visibleLine(root)}`]),
    ].join('  '),
    `  ${visibleBlock(output.content, 2)}`,
    ...(given.length === 0 ? [] : [`  ${given.join('  ')}`]),
  ].join('\n')
}
const showMessages = (rows: Infer<typeof Row>[]): string =>
  rows.length === 0 ? 'Nothing is said there.' : rows.map(showMessage).join('\n')

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
    run: (input) =>
      input.client.send(
        word === 'react' ? 'POST' : 'DELETE',
        `${pathOf(input)}/${encodeURIComponent(input.args['message_id'] ?? '')}/reactions`,
        { actor_id: input.args['actor_id'] ?? '', emoji: input.args['emoji'] ?? '' },
      ),
    answer: Row,
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
    run: (input) => input.client.get(listed(input)),
    answer: array(Row),
    show: showMessages,
  }),
  defineCommand({
    path: ['channels', 'post'],
    route: `POST ${route}`,
    summary: 'Says something in a channel, as one of its members.',
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
    run: (input) => {
      const { session, thread, 'reply-to': reply, to } = input.flags
      return input.client.send('POST', pathOf(input), {
        sender_actor_id: input.args['actor_id'] ?? '',
        content: input.args['content'] ?? '',
        ...(typeof session === 'string' && { sender_session_id: session }),
        ...(typeof thread === 'string' && { thread_root_message_id: thread }),
        ...(typeof reply === 'string' && { reply_to_message_id: reply }),
        ...(typeof to === 'string' && { addressed_member_ids: to.split(',') }),
      })
    },
    answer: Row,
    show: showMessage,
  }),
  reaction('react'),
  reaction('unreact'),
]
