/** Why the runs of a session are refused, whatever they are: tools that each must have are not there. */
import { commandLine, sentence } from '../../../../core/plugin.js'
import type { Reason } from '../../../operator/explanations/contract.js'
import type { ControlContext } from '../lifecycle/executor.js'

export const lackingReasons = (
  { missing, sessions }: Pick<ControlContext, 'missing' | 'sessions'>,
  session_id: string,
): readonly Reason[] => {
  const session = sessions.find(session_id)
  const lacking = session === undefined || session.ended_at_ms !== undefined ? undefined : missing(session_id)
  return lacking === undefined
    ? []
    : [
        {
          code: 'required_tools',
          text: sentence(`Its session takes no run: ${lacking}`),
          commands: [commandLine('status')],
        },
      ]
}
