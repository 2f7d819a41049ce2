/** Where the outputs of a session go, from the command line. */
import {
  array,
  commandErrors,
  defineCommand,
  open,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'

const View = open({ reply_targets: array(open({ plugin: string(), address: string() })) })

const showTargets = ({ reply_targets }: Infer<typeof View>): string =>
  reply_targets.length === 0
    ? 'Outputs of this session go to nobody.'
    : reply_targets.map(({ plugin, address }) => `${visibleLine(plugin)}  ${visibleLine(address)}`).join('\n')

const replyTargets = ({ client, args, flags: { clear } }: CommandInput): Promise<Json> => {
  const path = `/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}/reply-targets`
  if (clear === true && args['url'] !== undefined)
    throw commandErrors.flag_invalid({ details: { flag: 'clear', problem: 'does not go with <url>' } })
  if (clear === true) return client.send('DELETE', path)
  return args['url'] === undefined
    ? client.get(path)
    : client.send('PUT', path, { reply_targets: [{ type: 'http', url: args['url'] }] })
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'reply-targets'],
    route: 'GET /v1/sessions/{session_id}/reply-targets',
    summary: 'Where the outputs of a session go; a URL is set as the only one.',
    args: ['session_id', 'url?'],
    flags: { clear: { kind: 'switch', summary: 'Send them nowhere.' } },
    fields: { 'body.reply_targets': '<url>' },
    run: replyTargets,
    answer: View,
    show: showTargets,
  }),
]
