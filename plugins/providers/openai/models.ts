/** What differs from model to model of the family. */

/** Models of before take no thoughts and give none: they refuse a request that speaks of them. */
export const thinks = (model: string): boolean => !/(?:^|[:/])(?:gpt-[34]|chatgpt-|gpt-5-chat)/u.test(model)

/** Names of OpenAI's models, also of those that somebody tuned. */
export const isOwn = (model: string): boolean => /^(?:ft:)?(?:gpt-|chatgpt-|codex-|o\d)/u.test(model)
