/** `chat`: a conversation with a session in the terminal. */
import { commandErrors, defineCommand } from '../../../../core/plugin.js'
import { converse } from './converse.js'
import { createSheet } from './sheet.js'

export const chat = defineCommand({
  path: ['chat'],
  summary:
    'Talk with a session in the terminal; /help there tells more. Without a session a new one is made. Where no ' +
    'terminal is, each line of standard input is a message. Exit codes are those of runs watch.',
  args: ['session_id?'],
  talks: true,
  flags: {
    model: { kind: 'text', summary: 'The session uses it from now on: MODEL, ROUTE or ROUTE/MODEL.' },
    worktree: { kind: 'switch', summary: 'From now on each run of the session works in a git worktree of its own.' },
  },
  fields: {
    'body.route_policy.provider': 'MODEL',
    'body.route_policy.generation.model': 'MODEL',
    'body.isolation': '--worktree',
  },
  run: async (input) => {
    if (input.output === 'json')
      throw commandErrors.flag_invalid({
        details: { flag: 'output', problem: 'json is for holdfast runs submit --watch; chat prints text' },
      })
    const dialogue = input.dialogue()
    const { attended } = dialogue
    const columns = (): number => (attended ? input.columns() : Infinity)
    const sheet = createSheet({ ...input, columns, note: dialogue.note }, attended ? 2 : 0)
    dialogue.onStop(sheet.end)
    input.exitWith(await converse({ input, dialogue, sheet }))
  },
})
