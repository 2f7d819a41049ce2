/** Settings of a session from the command line: those that are set by hand most. */
import {
  array,
  defineCommand,
  open,
  string,
  visibleLine,
  commandErrors,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { SessionAnswer, sessionPath, showSession } from './pretty.js'

const View = open({ reply_targets: array(open({ plugin: string(), address: string() })) })

const showTargets = ({ reply_targets }: Infer<typeof View>): string =>
  reply_targets.length === 0
    ? 'Outputs of this session go to nobody.'
    : reply_targets.map(({ plugin, address }) => `${visibleLine(plugin)}  ${visibleLine(address)}`).join('\n')

const setPolicy = async ({ client, args, flags: { provider, model, clear } }: CommandInput): Promise<Json> => {
  const path = `${sessionPath(args)}/route-policy`
  if (clear === true) return client.send('DELETE', path)
  if (provider === undefined && model === undefined)
    throw commandErrors.flag_required({
      details: { command: 'sessions set-policy', flags: '--provider, --model or --clear' },
    })
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
    fields: { 'body.route_policy.provider': '--provider', 'body.route_policy.generation.model': '--model' },
    run: setPolicy,
    answer: SessionAnswer,
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'reply-targets'],
    summary: 'Where the outputs of a session go; a URL is set as the only one.',
    args: ['session_id', 'url?'],
    flags: { clear: { kind: 'switch', summary: 'Send them nowhere.' } },
    fields: { 'body.reply_targets': '<url>' },
    run: replyTargets,
    answer: View,
    show: showTargets,
  }),
]
