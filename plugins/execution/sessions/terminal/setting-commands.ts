/** Settings of a session from the command line: those that are set by hand most. */
import { defineCommand, type Command, type CommandInput, type Json } from '../../../../core/plugin.js'
import { SessionAnswer, sessionPath, showSession } from './session-text.js'

const setPolicy = async ({ client, args, flags: { provider, model, clear } }: CommandInput): Promise<Json> => {
  const path = `${sessionPath(args)}/route-policy`
  if (clear === true) return client.send('DELETE', path)
  const route_policy = {
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { generation: { model } }),
  }
  return client.send('PUT', path, { route_policy })
}

export const settingCommands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'set-policy'],
    route: 'PUT /v1/sessions/{session_id}/route-policy',
    summary: 'The model route of a session, for runs that name none.',
    args: ['session_id'],
    flags: {
      provider: { kind: 'text', summary: 'Id of the route.' },
      model: { kind: 'text', summary: 'Model on this route.' },
      clear: { kind: 'switch', summary: 'Forget what was set.' },
    },
    oneOf: ['--provider', '--model', '--clear'],
    fields: { 'body.route_policy.provider': '--provider', 'body.route_policy.generation.model': '--model' },
    run: setPolicy,
    answer: SessionAnswer,
    show: showSession,
  }),
]
