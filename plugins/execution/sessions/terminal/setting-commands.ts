/** Settings of a session from the command line: those that are set by hand most. */
import { commandErrors, defineCommand, type Command, type CommandInput, type Json } from '../../../../core/plugin.js'
import { SessionAnswer, sessionPath, showSession } from './session-text.js'

/** `--clear` goes with nothing else: one of the two would have no effect. */
const isCleared = (flags: CommandInput['flags'], others: readonly string[]): boolean => {
  if (flags['clear'] !== true) return false
  const other = others.find((flag) => flags[flag] !== undefined)
  if (other !== undefined) throw commandErrors.flags_together({ details: { flag: 'clear', other } })
  return true
}

const setPolicy = async ({ client, args, flags }: CommandInput): Promise<Json> => {
  const path = `${sessionPath(args)}/route-policy`
  if (isCleared(flags, ['provider', 'model'])) return client.send('DELETE', path)
  const { provider, model } = flags
  const route_policy = {
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { generation: { model } }),
  }
  return client.send('PUT', path, { route_policy })
}

const namesIn = (flags: CommandInput['flags'], flag: string): string[] => {
  const given = flags[flag]
  if (typeof given !== 'string') return []
  const names = given.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (names.length > 0) return names
  throw commandErrors.flag_invalid({
    details: { flag, problem: 'names no tool; --clear turns on what was turned off' },
  })
}

const setTools = async ({ client, args, flags }: CommandInput): Promise<Json> => {
  const path = `${sessionPath(args)}/tool-overrides`
  if (isCleared(flags, ['disable', 'enable'])) return client.send('DELETE', path)
  const tool_overrides = { enable: namesIn(flags, 'enable'), disable: namesIn(flags, 'disable') }
  return client.send('PUT', path, { tool_overrides })
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
  defineCommand({
    path: ['sessions', 'set-isolation'],
    route: 'PUT /v1/sessions/{session_id}/isolation',
    summary:
      'Whether runs of a session work in the workspace (shared) or each in a git worktree of its own (worktree).',
    args: ['session_id', 'isolation'],
    fields: { 'body.isolation': '<isolation>' },
    run: ({ client, args }) =>
      client.send('PUT', `${sessionPath(args)}/isolation`, { isolation: args['isolation'] ?? '' }),
    answer: SessionAnswer,
    show: showSession,
  }),
]
