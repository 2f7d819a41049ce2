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

const namesIn = (flag: string | boolean | undefined): string[] =>
  typeof flag === 'string' ? flag.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()])) : []

const setTools = async ({ client, args, flags: { enable, disable, clear } }: CommandInput): Promise<Json> => {
  const path = `${sessionPath(args)}/tool-overrides`
  if (clear === true) return client.send('DELETE', path)
  return client.send('PUT', path, { tool_overrides: { enable: namesIn(enable), disable: namesIn(disable) } })
}

export const settingCommands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'set-tools'],
    route: 'PUT /v1/sessions/{session_id}/tool-overrides',
    summary: 'Which tools are turned off in a session; the most exact name decides.',
    args: ['session_id'],
    flags: {
      disable: {
        kind: 'text',
        value: 'names',
        summary: "Turned off: names with commas, or beginnings such as 'mcp__*'.",
      },
      enable: { kind: 'text', value: 'names', summary: 'On all the same, where a wider name is off.' },
      clear: { kind: 'switch', summary: 'Turn on what was turned off.' },
    },
    oneOf: ['--disable', '--enable', '--clear'],
    fields: { 'body.tool_overrides.disable': '--disable', 'body.tool_overrides.enable': '--enable' },
    run: setTools,
    answer: SessionAnswer,
    show: showSession,
  }),
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
