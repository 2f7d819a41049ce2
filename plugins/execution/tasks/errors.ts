import { defineErrors } from '../../../core/plugin.js'

/** What a model can correct about its to-do list. */
export const taskErrors = defineErrors({
  todo_duplicate_id: { status: 400, detail: 'Two items have the id {id}.', action: 'Give each item an id of its own, or none.' },
})
