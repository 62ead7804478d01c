/* SPDX-License-Identifier: MIT */
/* What the text of a program says that OpenCL cannot be asked. */
#include "search.h"

#include <string.h>

/* --- definitions ------------------------------------------------------- */

/* Notes the macro if the directive at `p` (after #) defines one. */
static size_t note_macro(clc_Definition *d, const char *p, const char *end) {
  clc_Span t;
  if (!clc_nexttoken(&p, end, &t) || !clc_isthe(t, "define") || !clc_nexttoken(&p, end, &t))
    return 0;
  if (d != NULL) *d = (clc_Definition){.name = t, .body = {p, end}, .is_macro = 1};
  return 1;
}

/* The macros: wherever they are defined, all that follows may use them. */
static size_t find_macros(const char *text, clc_Definition *found) {
  const char *end = text + strlen(text), *p = text;
  clc_Span t;
  size_t n = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = clc_lineend(p);
    n += note_macro(found == NULL ? NULL : &found[n], p, line);
    p = line;
  }
  return n;
}

/* The end of the block whose `{` stands before p; *open: the blocks that never end. */
static const char *block_end(const char *p, const char *end, int *open) {
  clc_Span t;
  *open = 1;
  while (*open > 0 && clc_nexttoken(&p, end, &t))
    *open += *t.start == '{' ? 1 : *t.start == '}' ? -1 : 0;
  return p;
}

#define RENAMED "what asm or redefine_extname names"

/* Notes words by which a function can have another name than OpenCL's; a _Pragma quotes them. */
static void note_renaming(clc_Span words, clc_Facts *facts) {
  static const char *const names[] = {"asm", "__asm", "__asm__", "redefine_extname", NULL};
  const char *p = words.start;
  clc_Span t;
  while (clc_nexttoken(&p, words.end, &t)) {
    for (int i = 0; names[i] != NULL; i++) facts->renames |= clc_isthe(t, names[i]);
    if (*t.start == '"')
      for (const char *q = t.start; q < t.end; q++)
        facts->renames |= strncmp(q, "redefine_extname", strlen("redefine_extname")) == 0;
  }
}

static int same_text(clc_Span a, clc_Span b) {
  const size_t length = (size_t)(a.end - a.start);
  return (size_t)(b.end - b.start) == length && memcmp(a.start, b.start, length) == 0;
}

/* Notes that the macros (NULL: none) of a name are used outside of bodies; returns whether there
   are any. */
static int open_macros(clc_Definition *macros, size_t n, clc_Span name) {
  int known = 0;
  for (size_t i = 0; macros != NULL && i < n; i++)
    if (same_text(macros[i].name, name)) known = macros[i].is_open = 1;
  return known;
}

/* Fills `found` (NULL: only counts) with the functions and macros of a text. */
static size_t find_definitions(const char *text, clc_Definition *found, clc_Facts *facts) {
  const char *end = text + strlen(text), *p = text;
  clc_Span t, word = {NULL, NULL}, name = {NULL, NULL};
  const size_t macros = find_macros(text, found);
  size_t n = macros;
  int parens = 0, open, is_written = 0, behind_paren = 0;
  *facts = (clc_Facts){0, 0};
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start == '#') {
      const char *line = clc_lineend(p);
      note_renaming((clc_Span){p, line}, facts);
      p = line;
    } else if (*t.start == '(') {
      /* An attribute's name is replaced by the function's, but not the reverse. */
      if (parens++ == 0 && (name.start == NULL || !clc_isthe(word, "__attribute__"))) {
        name = word;
        is_written = behind_paren || open_macros(found, macros, word); /* NAME(x)(...), NAME(...) */
      }
    } else if (*t.start == ')') {
      parens--;
    } else if (*t.start == '{') {
      const char *close = block_end(p, end, &open);
      if (open > 0) facts->unclear = 1;
      if (name.start != NULL) {
        if (found != NULL)
          found[n] = (clc_Definition){.name = name, .body = {p, close}, .is_open = is_written};
        n++;
      }
      p = close;
      name = (clc_Span){NULL, NULL};
    } else if (*t.start == '}') {
      facts->unclear = 1;
    } else if (*t.start == ';') {
      name = (clc_Span){NULL, NULL};
    } else if (clc_isword(t)) {
      word = t;
      open_macros(found, macros, t);
    }
    note_renaming(t, facts);
    behind_paren = *t.start == ')';
  }
  return n;
}

/* --- what a kernel reaches --------------------------------------------- */

static size_t hash_of(clc_Span name) {
  size_t hash = 5381; /* Bernstein's */
  for (const char *p = name.start; p < name.end; p++) hash = hash * 33 + (unsigned char)*p;
  return hash % CLC_HASHES;
}

static void hash_names(clc_Search *s) {
  memset(s->first, 0, sizeof s->first);
  for (size_t i = s->n; i > 0; i--) {
    size_t *first = &s->first[hash_of(s->definitions[i - 1].name)];
    s->definitions[i - 1].next = *first;
    *first = i;
  }
}

/* The first definition of a name from a place on, as `next`; NULL: none. */
static clc_Definition *find_named(const clc_Search *s, size_t next, clc_Span name) {
  for (; next != 0; next = s->definitions[next - 1].next)
    if (same_text(s->definitions[next - 1].name, name)) return &s->definitions[next - 1];
  return NULL;
}

static int defines(const clc_Search *s, clc_Span name) {
  return find_named(s, s->first[hash_of(name)], name) != NULL;
}

/* Whether a word is the name, or starts like a name that ends in `*`. */
static int matches(clc_Span t, const char *name) {
  const size_t length = strlen(name);
  if (length == 0 || name[length - 1] != '*') return clc_isthe(t, name);
  return (size_t)(t.end - t.start) >= length - 1 && memcmp(t.start, name, length - 1) == 0;
}

#define DEEPEST_CALL 100 /* of functions and macros that are followed */

static int is_parenthesis_next(const char *p, const char *end) {
  clc_Span t;
  return clc_nexttoken(&p, end, &t) && *t.start == '(';
}

static const char *search_body(clc_Search *s, clc_Span body, int depth) {
  const char *p = body.start;
  clc_Span t;
  while (clc_nexttoken(&p, body.end, &t)) {
    if (*t.start == '#' && p < body.end && *p == '#') s->pastes = 1;
    note_renaming(t, &s->facts);
    if (!clc_isword(t)) continue;
    for (int i = 0; s->names[i] != NULL; i++)
      if (matches(t, s->names[i])) return s->names[i];
    clc_Definition *d = find_named(s, s->first[hash_of(t)], t);
    for (; d != NULL; d = find_named(s, d->next, t)) {
      if (d->visited) continue;
      if (s->calls_only && !d->is_macro && !is_parenthesis_next(p, body.end)) continue;
      if (depth == DEEPEST_CALL) {
        s->facts.unclear = 1;
        continue;
      }
      d->visited = 1;
      const char *found = search_body(s, d->body, depth + 1);
      if (found != NULL) return found;
    }
  }
  return NULL;
}

int clc_mentions(const char *text, const char *const names[]) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t;
  while (clc_nexttoken(&p, end, &t))
    for (int i = 0; names[i] != NULL; i++)
      if (clc_isthe(t, names[i])) return 1;
  return 0;
}

static int is_one_of(clc_Span t, const char *const words[]) {
  for (int i = 0; words[i] != NULL; i++)
    if (clc_isthe(t, words[i])) return 1;
  return 0;
}

/* Whether a word may stand before the name that is declared. */
static int is_of_declaration(clc_Span t) {
  static const char *const others[] = {"return", "else", "case", "do", "goto", "sizeof", NULL};
  return clc_isword(t) && !is_one_of(t, others);
}

/* Whether the tokens before a `[`, the last one first, are those of a declaration: `float x`,
   `float *x` or, where no parenthesis is open, `, x`. */
static int declares_array(const clc_Span before[4], int parens) {
  if (!clc_isword(before[0])) return 0;
  if (*before[1].start == ',') return parens == 0;
  if (*before[1].start != '*') return is_of_declaration(before[1]);
  return is_of_declaration(before[2]) &&
         (strchr(";{}", *before[3].start) != NULL || is_of_declaration(before[3]));
}

int clc_hasarrays(const char *text) {
  static const char *const shared[] = {"constant", "__constant", "local", "__local",
                                       "global",   "__global",   NULL};
  const char *p = text, *end = text + strlen(text);
  clc_Span t, before[4] = {{";", ";"}, {";", ";"}, {";", ";"}, {";", ";"}};
  int parens = 0, is_shared = 0;
  for (; clc_nexttoken(&p, end, &t); before[0] = t) {
    const char c = *t.start;
    parens += c == '(' ? 1 : c == ')' ? -1 : 0;
    is_shared = is_one_of(t, shared) || (is_shared && strchr(";{}", c) == NULL);
    if (c == '[' && (!is_shared || *before[1].start == '*') && declares_array(before, parens))
      return 1;
    memmove(before + 1, before, 3 * sizeof *before);
  }
  return 0;
}

clc_Search clc_newsearch(lua_State *L, const char *text, const char *const *names) {
  clc_Search s = {.names = names};
  s.n = find_definitions(text, NULL, &s.facts);
  s.definitions = lua_newuserdatauv(L, (s.n + 1) * sizeof *s.definitions, 0); /* one is free */
  find_definitions(text, s.definitions, &s.facts);
  hash_names(&s);
  return s;
}

/* Whether words of the bodies that were visited, one pasted behind the other, can make a name. */
static int can_paste(const clc_Search *s, clc_Span name) {
  const size_t room = (size_t)(name.end - name.start), is_open = name.end[-1] == '*';
  const size_t length = room - is_open;
  char made[CLC_NAME] = {1}; /* by place in the name: words can make what stands before it */
  clc_Span t;
  if (length >= sizeof made) return 1;
  for (size_t i = 0; i < length; i++) {
    const size_t left = length - i;
    for (size_t d = 0; made[i] && d < s->n; d++) {
      const char *p = s->definitions[d].body.start;
      while (s->definitions[d].visited && clc_nexttoken(&p, s->definitions[d].body.end, &t)) {
        const size_t size = (size_t)(t.end - t.start);
        if (memcmp(name.start + i, t.start, size < left ? size : left) != 0) continue;
        if (size == left || (size > left && is_open)) return 1;
        if (size < left) made[i + size] = 1;
      }
    }
  }
  return 0;
}

/* Goes on with what has a name that cannot be told: a kernel may reach it. */
static const char *search_open(clc_Search *s) {
  const char *found = NULL;
  for (size_t i = 0; i < s->n && found == NULL; i++)
    if (s->definitions[i].is_open && !s->definitions[i].visited) {
      s->definitions[i].visited = 1;
      found = search_body(s, s->definitions[i].body, 0);
    }
  return found;
}

/* Goes on where macros that were visited paste names together: those of functions and macros lead
   to these, and what is looked for may be made itself. */
static const char *search_pasted(clc_Search *s) {
  const char *found = NULL;
  for (int i = 0; s->names[i] != NULL; i++)
    if (can_paste(s, (clc_Span){s->names[i], s->names[i] + strlen(s->names[i])}))
      return s->names[i];
  for (size_t i = 0; i < s->n && found == NULL; i++) {
    clc_Definition *d = &s->definitions[i];
    if (d->visited || !can_paste(s, d->name)) continue;
    d->visited = 1;
    found = search_body(s, d->body, 0);
    if (found == NULL) return search_pasted(s); /* with more words */
  }
  return found;
}

const char *clc_searchspan(clc_Search *s, clc_Span span, const char *const names[]) {
  for (size_t i = 0; i < s->n; i++) s->definitions[i].visited = 0;
  s->names = names;
  s->calls_only = 1;
  return search_body(s, span, 0);
}

const char *clc_reaches(lua_State *L, const char *text, const char *kernel,
                        const char *const names[]) {
  clc_Search s = clc_newsearch(L, text, names);
  const clc_Span name = {kernel, kernel + strlen(kernel)}; /* leads to the kernel's body */
  const clc_Span all = {text, text + strlen(text)};
  const char *found = NULL;
  if (defines(&s, name)) found = search_body(&s, name, 0);
  if (found == NULL) found = search_open(&s);
  /* Where a macro may have written the kernel's head, any use in the text counts. */
  if (found == NULL && (s.facts.unclear || !defines(&s, name))) {
    s.definitions[s.n++] = (clc_Definition){.body = all, .visited = 1};
    found = search_body(&s, all, 0);
  }
  if (found == NULL && s.pastes) found = search_pasted(&s);
  if (found == NULL && s.facts.renames) found = RENAMED;
  lua_pop(L, 1);
  return found;
}

/* --- images ------------------------------------------------------------ */

/* The type of the colours that a built-in function reads or writes; NULL: it is another function.
 */
static const char *find_colour(clc_Span name) {
  static const char *const suffixes[][2] = {
      {"f", "float"}, {"h", "float"}, {"i", "int"}, {"ui", "uint"}};
  const size_t length = (size_t)(name.end - name.start);
  for (const char *const *stem = (const char *const[]){"read_image", "write_image", NULL};
       *stem != NULL; stem++) {
    if (length <= strlen(*stem) || memcmp(name.start, *stem, strlen(*stem)) != 0) continue;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
      if (clc_isthe((clc_Span){name.start + strlen(*stem), name.end}, suffixes[i][0]))
        return suffixes[i][1];
  }
  return NULL;
}

static const char *colour_in(clc_Span body, const char *parameter) {
  const char *p = body.start, *colour = NULL, *found = NULL;
  clc_Span t;
  while (clc_nexttoken(&p, body.end, &t)) {
    if (*t.start == '#') return NULL; /* a branch may be left out */
    if (clc_isthe(t, parameter) && found != NULL) {
      if (colour != NULL && colour != found) return NULL;
      colour = found;
    }
    if (*t.start != '(') found = find_colour(t);
  }
  return colour;
}

const char *clc_imagecolour(lua_State *L, const char *text, const char *kernel,
                            const char *parameter) {
  const clc_Search s = clc_newsearch(L, text, NULL);
  const clc_Span name = {kernel, kernel + strlen(kernel)};
  const char *colour = NULL;
  for (size_t i = 0; i < s.n; i++)
    if (same_text(s.definitions[i].name, name))
      colour = s.definitions[i].is_macro ? NULL : colour_in(s.definitions[i].body, parameter);
  lua_pop(L, 1);
  return colour;
}

/* --- typedefs ---------------------------------------------------------- */

#define DEEPEST 8 /* typedefs of typedefs */

/* Reads what stands between `typedef` and `;`. Returns whether it is words alone, beside
   the enumerators of an enum, which its type does not depend on. */
static int read_typedef(const char **p, const char *end, clc_Span *base, clc_Span *name) {
  clc_Span t;
  int plain = 1, n = 0, is_enum = 0, open;
  *base = *name = (clc_Span){NULL, NULL};
  while (clc_nexttoken(p, end, &t) && *t.start != ';') {
    if (n == 0) is_enum = clc_isthe(t, "enum");
    if (*t.start == '{') {
      *p = block_end(*p, end, &open);
      if (is_enum) continue;
    }
    if (!clc_isword(t)) plain = 0;
    if (n++ == 0) base->start = t.start;
    base->end = name->end;
    *name = t;
  }
  return plain && n >= 2;
}

/* The one plain typedef of a name in the text. */
static int find_typedef(const char *text, clc_Span name, clc_Span *base) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t, declared, found;
  int n = 0, plain = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (!clc_isthe(t, "typedef")) continue;
    const int words = read_typedef(&p, end, &found, &declared);
    if (declared.start == NULL || !same_text(declared, name)) continue;
    plain = words;
    *base = found;
    n++;
  }
  return n == 1 && plain;
}

/* The replacement of the one macro of that name, if it is words alone. */
static int find_macro(const char *text, clc_Span name, clc_Span *body) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t;
  clc_Definition d;
  int n = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = clc_lineend(p);
    if (note_macro(&d, p, line) && same_text(d.name, name)) {
      *body = d.body;
      n++;
    }
    p = line;
  }
  if (n != 1) return 0;
  p = body->start;
  body->start = p;
  while (clc_nexttoken(&p, body->end, &t))
    if (!clc_isword(t)) return 0;
  while (body->end > body->start && strchr(" \t\n\r", body->end[-1]) != NULL) body->end--;
  return body->start < body->end;
}

/* Pushes the words with one space between them. */
static const char *push_words(lua_State *L, clc_Span words) {
  const char *p = words.start;
  clc_Span t;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (clc_nexttoken(&p, words.end, &t)) {
    if (t.start != words.start) luaL_addchar(&b, ' ');
    luaL_addlstring(&b, t.start, (size_t)(t.end - t.start));
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

const char *clc_pushtype(lua_State *L, const char *text, const char *name) {
  clc_Span type = {name, name + strlen(name)}, next = type;
  for (int i = 0; i < DEEPEST; i++) {
    /* The driver has expanded the macros of the first name. */
    if (!find_typedef(text, type, &next) && (i == 0 || !find_macro(text, type, &next))) break;
    type = next;
  }
  return push_words(L, type);
}

/* --- structs ----------------------------------------------------------- */

int clc_ismacro(const char *text, clc_Span name) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t;
  clc_Definition d;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = clc_lineend(p);
    if (note_macro(&d, p, line) && same_text(d.name, name)) return 1;
    p = line;
  }
  return 0;
}

/* Reads `[tag] { body } [name] ;` behind `struct`. Returns whether it is that alone. */
static int read_struct(const char *p, const char *end, clc_Span *tag, clc_Span *body,
                       clc_Span *name) {
  clc_Span t;
  int open;
  *tag = *name = (clc_Span){p, p};
  if (!clc_nexttoken(&p, end, &t)) return 0;
  if (clc_isword(t)) {
    *tag = t;
    if (!clc_nexttoken(&p, end, &t)) return 0;
  }
  if (*t.start != '{') return 0;
  body->start = p;
  p = block_end(p, end, &open);
  body->end = p - 1;
  if (!clc_nexttoken(&p, end, &t)) return 0;
  if (clc_isword(t)) {
    *name = t;
    if (!clc_nexttoken(&p, end, &t)) return 0;
  }
  return *t.start == ';' && open == 0;
}

clc_Span clc_structbody(const char *text, const char *name) {
  static const char *const packing[] = {"pack", "ms_struct", "options", /* of a #pragma */
                                        "_Pragma", NULL};
  static const char word[] = "struct";
  const char *p = text, *end = text + strlen(text);
  const int is_tag = strncmp(name, "struct ", 7) == 0;
  const clc_Span none = {NULL, NULL};
  clc_Span t, tag, body, declared, found = none;
  int n = 0, is_typedef = 0;
  if (clc_mentions(text, packing) || clc_ismacro(text, (clc_Span){word, word + strlen(word)}))
    return none;
  for (; clc_nexttoken(&p, end, &t); is_typedef = clc_isthe(t, "typedef")) {
    if (!clc_isthe(t, "struct") || !read_struct(p, end, &tag, &body, &declared)) continue;
    if (!clc_isthe(is_tag ? tag : declared, is_tag ? name + 7 : name) || !(is_tag || is_typedef))
      continue;
    found = body;
    n++;
    if (clc_ismacro(text, tag) || clc_ismacro(text, declared))
      return none; /* an attribute, perhaps */
  }
  return n == 1 ? found : none;
}
