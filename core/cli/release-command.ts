/** `release`: lets a daemon that holds begin its work. */
import { defineCommand, type Command } from '../plugin/command.js'
import { boolean, open } from '../base/schema.js'

export const releaseCommand: Command = defineCommand({
  path: ['release'],
  route: 'POST /v1/release',
  summary: 'Let a daemon that holds begin runs, schedules and deliveries.',
  run: ({ client }) => client.send('POST', '/v1/release'),
  answer: open({ released: boolean() }),
  show: ({ released }) => (released ? 'Released: runs, schedules and deliveries begin.' : 'The daemon did not hold.'),
})
