// What the document's schemas say, as plain values: no element is made here.

/** The schema's name where it is a reference, else null. */
export function referredName(schema) {
  return schema?.$ref?.split("/").pop() ?? null;
}

/** The type as a list of words; a reference is `{ name }`, for a link. */
export function typeParts(schema) {
  if (!schema || Object.keys(schema).length === 0) return ["anything"];
  if (schema.$ref) return [{ name: referredName(schema) }];
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.flatMap((choice, index) => (index ? [" or "] : []).concat(typeParts(choice)));
  if (schema.allOf) return schema.allOf.flatMap((part, index) => (index ? [" and "] : []).concat(typeParts(part)));
  if (schema.type === "array") return ["array of ", ...typeParts(schema.items)];
  if (schema.type === "object" && schema.additionalProperties && !schema.properties) {
    return ["map of string to ", ...typeParts(schema.additionalProperties)];
  }
  const names = [].concat(schema.type ?? "anything").join(" or ");
  return [schema.format?.startsWith("date") ? `${names} (${schema.format})` : names];
}

/** What a value has to keep to: pairs of words and of a text that stands in the document, patterns as they are. */
export function rules(schema) {
  const found = [];
  const add = (words, text) => found.push([words, text]);
  const literal = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  if (schema?.enum) add("one of", schema.enum.map(literal).join(", "));
  if (schema?.minimum !== undefined && schema.maximum !== undefined) {
    add("from", `${schema.minimum} to ${schema.maximum}`);
  } else {
    if (schema?.minimum !== undefined) add("at least", String(schema.minimum));
    if (schema?.exclusiveMinimum !== undefined) add("over", String(schema.exclusiveMinimum));
    if (schema?.maximum !== undefined) add("at most", String(schema.maximum));
  }
  if (schema?.minLength !== undefined || schema?.maxLength !== undefined) {
    add("characters", `${schema.minLength ?? 0} to ${schema.maxLength ?? "any number"}`);
  }
  if (schema?.pattern !== undefined) add("pattern", schema.pattern);
  if (schema?.default !== undefined) add("default", literal(schema.default));
  return found;
}

/** The fields of an object: name, whether it is required, schema, meaning. What it is put together from is laid flat. */
export function fields(schema, schemas) {
  const name = referredName(schema);
  if (name) return fields(schemas[name], schemas);
  const parts = schema?.allOf ?? [];
  const optional = (schema?.oneOf ?? []).filter((choice) => choice.type !== "null");
  const inherited = parts.flatMap((part) => fields(part, schemas)).concat(
    optional.length === 1 ? fields(optional[0], schemas).map((field) => ({ ...field, required: false })) : []);
  const own = Object.entries(schema?.properties ?? {}).map(([key, property]) => ({
    name: key,
    required: (schema.required ?? []).includes(key),
    schema: property,
    meaning: property.description ?? property.oneOf?.find((choice) => choice.description)?.description ?? "",
  }));
  return own.concat(inherited).sort((one, other) => other.required - one.required);
}

/** A body with what is required (`least`) or with every field that has an example or a default. */
export function exampleBody(schema, schemas, extent) {
  const wanted = fields(schema, schemas).filter((field) => extent === "all" || field.required);
  const valued = wanted.map((field) => [field.name, field.schema.example ?? field.schema.default]);
  return Object.fromEntries(valued.filter(([, value]) => value !== undefined));
}
