import { commandHelp, overview, serveHelp, usage } from '../../../core/cli/help.js'
import { shipped } from '../../../core/shipped.js'
import { pluginFlags } from '../../../core/cli/plugin-commands.js'
import type { Facts } from '../gather.js'
import { page } from '../markdown.js'

const block = (text: string): string => ['```', text.trimEnd(), '```'].join('\n')

export const commandLinePage = async ({ commands }: Facts): Promise<string> =>
  page(
    '# Command line',
    'What `holdfast --help` says, which is `node dist/core/main.js --help` in a clone. Exit codes: 0 it worked, ' +
      '1 it did not, 2 the command line was wrong, 130 it was interrupted; `runs watch` and `runs submit --watch` also ' +
      'end with 3, when the run waits for a person. With `--output json` an error is one JSON object on standard error: ' +
      'the problem document of the daemon, or `code`, `message`, `action` and `errors` of what went wrong here.',
    block(overview(commands)),
    '## holdfast serve',
    block(serveHelp(pluginFlags(await shipped.plugins()))),
    ...commands
      .toSorted((a, b) => (usage(a) < usage(b) ? -1 : 1))
      .map((command) => [`## holdfast ${command.path.join(' ')}`, block(commandHelp(command))]),
  )
