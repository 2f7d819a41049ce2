/** Settings of a session from the command line: those that are set by hand most. */
import {
  array,
  defineCommand,
  open,
  parse,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Json,
} from '../../../core/plugin.js'
import { plain, sessionPath, showSession } from './pretty.js'

const View = open({ reply_targets: array(open({ plugin: string(), address: string() })) })

const showTargets = (answer: Json): string => {
  const parsed = parse(View, answer)
  if (!parsed.ok) return plain(answer)
  const { reply_targets } = parsed.value
  return reply_targets.length === 0
    ? 'Outputs of this session go to nobody.'
    : reply_targets.map(({ plugin, address }) => `${plugin}  ${visibleLine(address)}`).join('\n')
}

const setPolicy = ({ client, args, flags: { provider, model, clear } }: CommandInput): Promise<Json> => {
  const path = `${sessionPath(args)}/route-policy`
  if (clear === true) return client.send('DELETE', path)
  const route_policy = {
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { generation: { model } }),
  }
  return client.send('PUT', path, { route_policy })
}

const replyTargets = ({ client, args, flags: { clear } }: CommandInput): Promise<Json> => {
  const path = `${sessionPath(args)}/reply-targets`
  if (clear === true) return client.send('DELETE', path)
  return args['url'] === undefined
    ? client.get(path)
    : client.send('PUT', path, { reply_targets: [{ type: 'http', url: args['url'] }] })
}

export const settingCommands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'set-policy'],
    summary: 'The model route of a session, for runs that name none.',
    args: ['session_id'],
    flags: {
      provider: { kind: 'text', summary: 'Id of the route.' },
      model: { kind: 'text', summary: 'Model on this route.' },
      clear: { kind: 'switch', summary: 'Forget what was set.' },
    },
    run: setPolicy,
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'reply-targets'],
    summary: 'Where the outputs of a session go; a URL is set as the only one.',
    args: ['session_id', 'url?'],
    flags: { clear: { kind: 'switch', summary: 'Send them nowhere.' } },
    run: replyTargets,
    show: showTargets,
  }),
]
