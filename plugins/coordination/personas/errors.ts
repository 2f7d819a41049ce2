import { defineErrors } from '../../../core/plugin.js'

export const personaErrors = defineErrors({
  persona_already_exists: {
    status: 409,
    domain: 'personas',
    detail: 'Persona {persona_id} exists.',
    action: 'Change it with PUT /v1/personas/{persona_id}, or choose another id.',
  },
  invalid_persona_id: {
    status: 400,
    domain: 'personas',
    detail: 'A persona id must not be empty, "." or "..", and must hold no slash, backslash or control character.',
    action: 'Choose another id, or leave it out to get one.',
  },
  invalid_persona: {
    status: 400,
    domain: 'personas',
    detail: 'The persona cannot be kept as it is: {what}.',
    action: 'Correct the field and send it again.',
  },
})
