import { defineErrors } from '../../../core/plugin.js'

/** Problems of stimuli; others are those of channels. */
export const stimulusErrors = defineErrors({
  channel_stimuli_full: {
    status: 409,
    domain: 'channels',
    detail: 'In the channel {channel_id} {most} stimuli wait, as many as its max_pending_stimuli allows.',
    action: 'Wait until some are dispatched, or raise max_pending_stimuli of its autonomy_policy.',
  },
})
