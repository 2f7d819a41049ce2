/** Channels from the command line. */
import {
  boolean,
  commandErrors,
  defineCommand,
  isJsonObject,
  listedRows,
  open,
  pageFlags,
  readRows,
  searchedRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'
import { messageCommands } from './message-commands.js'
import { participationModes } from './record/policy.js'
import { displayNameModes } from './record/record.js'
import { channelLine, ChannelRow, channelText, memberLine, MemberRow, WholeChannel } from './terminal/channel-text.js'

const route = '/v1/channels/{channel_id}'
const pathOf = ({ args }: CommandInput): string => `/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}`

const memberAt = (input: CommandInput): string =>
  `${pathOf(input)}/members/${encodeURIComponent(input.args['member_id'] ?? '')}`

const showChannels = (rows: Infer<typeof ChannelRow>[]): string =>
  rows.length === 0 ? 'No channels yet. Make one: holdfast channels create TITLE' : rows.map(channelLine).join('\n')

const showMembers = (rows: Infer<typeof MemberRow>[]): string =>
  rows.length === 0 ? 'Nobody is in this channel.' : rows.map(memberLine).join('\n')

/** Members of a body from the flags that were given. */
const bodyOf = ({ flags }: CommandInput, fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([flag, field]) => (typeof flags[flag] === 'string' ? [[field, flags[flag]]] : [])),
  )
const policyOf = async (input: CommandInput): Promise<JsonObject> => {
  const autonomy_policy = await input.json('policy')
  return autonomy_policy === undefined ? {} : { autonomy_policy }
}

const about = { description: 'description', purpose: 'purpose', mode: 'default_participation_mode' }
const aboutFlags = {
  description: { kind: 'text', summary: 'What it is about; blank for none.' },
  purpose: { kind: 'text', summary: 'What it is there for; blank for none.' },
  mode: { kind: 'text', value: 'mode', summary: 'How members that come later take part, unless they say.' },
  policy: { kind: 'text', value: 'json', summary: 'How much of it agents may fill: an object, in place of all of it.' },
} as const
const aboutFields = { 'body.default_participation_mode': '--mode', 'body.autonomy_policy.*': '--policy' }

const memberFlags = {
  name: { kind: 'text', summary: 'What it is called; its id when absent.' },
  session: { kind: 'text', summary: 'The session that it is; without one it is a person.' },
  actor: { kind: 'text', summary: 'The id under which the person is known elsewhere.' },
  'name-mode': {
    kind: 'text',
    value: 'mode',
    summary: 'Whether the name of a session stays, or is that of its agent.',
  },
  role: { kind: 'text', summary: 'What it is there for.' },
  mode: { kind: 'text', value: 'mode', summary: 'How it takes part.' },
  muted: { kind: 'switch', summary: 'It is not asked to speak.' },
} as const

const channelCommands: readonly Command[] = [
  defineCommand({
    path: ['channels', 'list'],
    route: 'GET /v1/channels',
    summary: 'Channels by id.',
    flags: {
      query: { kind: 'text', summary: 'Only those whose id, title, description or purpose holds this text.' },
      ...pageFlags,
    },
    run: (input) => searchedRows(input, '/v1/channels'),
    answer: listedRows(ChannelRow),
    show: showRows(showChannels),
  }),
  defineCommand({
    path: ['channels', 'get'],
    route: `GET ${route}`,
    summary: 'One channel.',
    args: ['channel_id'],
    run: (input) => input.client.get(pathOf(input)),
    answer: WholeChannel,
    show: channelText,
  }),
  defineCommand({
    path: ['channels', 'create'],
    route: 'POST /v1/channels',
    summary: 'Makes a channel.',
    args: ['title'],
    flags: { id: { kind: 'text', summary: 'Its id; made by the daemon when absent.' }, ...aboutFlags },
    choices: { mode: participationModes },
    fields: { 'body.channel_id': '--id', ...aboutFields },
    run: async (input) =>
      input.client.send('POST', '/v1/channels', {
        title: input.args['title'] ?? '',
        ...bodyOf(input, { id: 'channel_id', ...about }),
        ...(await policyOf(input)),
      }),
    answer: ChannelRow,
    show: channelLine,
  }),
  defineCommand({
    path: ['channels', 'update'],
    route: `PUT ${route}`,
    summary: 'Changes what is named of a channel.',
    args: ['channel_id'],
    flags: {
      title: { kind: 'text', summary: 'What it is called.' },
      ...aboutFlags,
      pause: {
        kind: 'switch',
        summary: 'Nobody is asked to speak from now on; a turn that has begun may still end with its message.',
      },
      resume: { kind: 'switch', summary: 'Members are asked to speak again.' },
    },
    oneOf: ['--title', '--description', '--purpose', '--mode', '--policy', '--pause', '--resume'],
    choices: { mode: participationModes },
    fields: { 'body.paused': ['--pause', '--resume'], ...aboutFields },
    run: async (input) => {
      const { pause, resume } = input.flags
      if (pause === true && resume === true)
        throw commandErrors.flags_together({ details: { flag: 'pause', other: 'resume' } })
      return input.client.send('PUT', pathOf(input), {
        ...bodyOf(input, { title: 'title', ...about }),
        ...(await policyOf(input)),
        ...((pause === true || resume === true) && { paused: pause === true }),
      })
    },
    answer: ChannelRow,
    show: channelLine,
  }),
  defineCommand({
    path: ['channels', 'delete'],
    route: `DELETE ${route}`,
    summary: 'Removes a channel with all that was said in it.',
    args: ['channel_id'],
    run: async (input): Promise<Json> => {
      const answer = await input.client.send('DELETE', pathOf(input))
      return isJsonObject(answer) ? { ...answer, channel_id: input.args['channel_id'] ?? '' } : answer
    },
    answer: open({ accepted: boolean(), channel_id: string() }),
    show: ({ channel_id }) => `${visibleLine(channel_id)} is removed.`,
  }),
]

const memberCommands: readonly Command[] = [
  defineCommand({
    path: ['channels', 'members', 'list'],
    route: `GET ${route}/members`,
    summary: 'Members of a channel by id.',
    args: ['channel_id'],
    flags: pageFlags,
    run: (input) => readRows(input, `${pathOf(input)}/members`),
    answer: listedRows(MemberRow),
    show: showRows(showMembers),
  }),
  defineCommand({
    path: ['channels', 'members', 'get'],
    route: `GET ${route}/members/{member_id}`,
    summary: 'One member of a channel, by any of its ids.',
    args: ['channel_id', 'member_id'],
    run: (input) => input.client.get(memberAt(input)),
    answer: MemberRow,
    show: memberLine,
  }),
  defineCommand({
    path: ['channels', 'members', 'add'],
    route: `POST ${route}/members`,
    summary: 'Adds a member to a channel, or replaces the one that has this id there.',
    args: ['channel_id', 'member_id'],
    flags: memberFlags,
    choices: { mode: participationModes, 'name-mode': displayNameModes },
    fields: {
      'body.display_name': '--name',
      'body.session_id': '--session',
      'body.actor_id': '--actor',
      'body.display_name_mode': '--name-mode',
      'body.participation_mode': '--mode',
      'body.member_kind': '--session',
    },
    run: (input) => {
      const member_id = input.args['member_id'] ?? ''
      return input.client.send('POST', `${pathOf(input)}/members`, {
        member_id,
        member_kind: typeof input.flags['session'] === 'string' ? 'session' : 'human_actor',
        display_name: member_id,
        ...bodyOf(input, {
          name: 'display_name',
          session: 'session_id',
          actor: 'actor_id',
          'name-mode': 'display_name_mode',
          role: 'role',
          mode: 'participation_mode',
        }),
        ...(input.flags['muted'] === true && { muted: true }),
      })
    },
    answer: MemberRow,
    show: memberLine,
  }),
  defineCommand({
    path: ['channels', 'members', 'remove'],
    route: `DELETE ${route}/members/{member_id}`,
    summary: 'Takes a member out of a channel; what it said stays.',
    args: ['channel_id', 'member_id'],
    run: async (input): Promise<Json> => {
      const member_id = input.args['member_id'] ?? ''
      const answer = await input.client.send('DELETE', memberAt(input))
      return isJsonObject(answer) ? { ...answer, member_id } : answer
    },
    answer: open({ accepted: boolean(), member_id: string() }),
    show: ({ member_id }) => `${visibleLine(member_id)} is in the channel no longer.`,
  }),
]

export const commands: readonly Command[] = [...channelCommands, ...memberCommands, ...messageCommands]
