import { defineErrors } from '../../../../core/plugin.js'

/** Why the engine did not make a call, or does not know what came of it. The model reads these in place of a result. */
export const callErrors = defineErrors({
  call_cut: {
    status: 400,
    detail: 'The answer was cut at its length limit, so this call was not made.',
    action: 'Make the call again with a shorter answer.',
  },
  call_limit_reached: {
    status: 429,
    detail: 'Only {limit} calls may be made in one turn.',
    action: 'Make the rest in the next turn.',
  },
  call_input_too_large: {
    status: 413,
    detail: 'The input is larger than {limit} bytes.',
    action: 'Split it over several calls.',
  },
  call_input_invalid: {
    status: 400,
    detail: 'The input does not fit the tool.',
    action: 'Correct what `issues` names, and call again.',
  },
  call_input_changed: {
    status: 409,
    detail: 'The input is not the one that was approved, so this call was not made.',
    action: 'Make the call again to ask anew.',
  },
  call_denied_by_rule: { status: 403, detail: 'A permission rule forbids this call.', action: 'Go on without it.' },
  call_denied_by_mode: {
    status: 403,
    detail: 'The permission mode {mode} does not let this call run.',
    action: 'Go on without it.',
  },
  call_denied_by_limit: {
    status: 403,
    detail: 'The tool needs more than the limits of this run grant.',
    action: 'Go on without it.',
  },
  call_denied_by_hook: {
    status: 403,
    detail: 'The {who} refused this call, so it was not made.',
    action: 'Go on without it, or in the way that `reason` tells.',
  },
  output_withheld_by_hook: {
    status: 403,
    detail: 'The call was made; the {who} withholds what came of it.',
    action: 'Go on in the way that `reason` tells.',
  },
  call_denied_by_operator: {
    status: 403,
    detail: 'The operator denied this call.',
    action: 'Go on without it, or in the way that `reason` tells.',
  },
  approval_expired: {
    status: 403,
    detail: 'Nobody decided in time whether this call may be made, so it was not.',
    action: 'Go on without it, or ask again when somebody can answer.',
  },
  call_not_made: { status: 409, detail: 'The run ended before this call was made.' },
  call_outcome_lost: {
    status: 500,
    detail: 'The run ended before the outcome of this call was known.',
    action: 'Check what it did before you try again.',
  },
  call_outcome_unknown: {
    status: 500,
    detail: 'The daemon stopped while this call was being made, so its outcome is unknown. It is not repeated.',
    action: 'Check what it did before you try again.',
  },
  call_not_ended: {
    status: 500,
    detail: 'The tool did not end when it was told to; what it did is unknown.',
    action: 'Check what it did before you try again.',
  },
  call_timed_out: {
    status: 504,
    detail: 'The tool was stopped after {after_ms} ms.',
    action: 'Ask for less in one call.',
  },
  tool_turned_off: {
    status: 403,
    detail: 'The tool {name} is turned off in this session.',
    action: 'Go on without it; calling it again changes nothing.',
  },
  tool_not_found: {
    status: 404,
    detail: 'There is no tool named {name}.',
    action: 'Use one of the tools that you were given.',
  },
  tool_failed: {
    status: 500,
    detail: 'The tool failed.',
    action: 'Try another way; the log of the daemon has the cause.',
  },
  tool_output_too_large: {
    status: 500,
    detail: 'The tool returned more than {limit} bytes.',
    action: 'Ask for less in one call.',
  },
  output_empty: { status: 400, detail: 'There is nothing to send.', action: 'Give content, parts or artifact_ids.' },
  output_files_limit: {
    status: 400,
    detail: 'More than {limit} files cannot go out at once.',
    action: 'Send them with several calls.',
  },
})

/** The same, where nobody knows which hooks would have to be asked. */
export const lockedCall = defineErrors({
  call_denied_by_hook: {
    status: 403,
    detail: 'Nobody can be asked whether this call may be made, so it was not made.',
    action: 'Go on without it.',
  },
})
