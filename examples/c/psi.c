/*
 * A peer of the command: finds out which lines of a file the other side has, or lets it find out.
 *
 *     foxtrot psi send theirs.txt --listen 127.0.0.1:7000 --insecure
 *     ./psi receive 127.0.0.1:7000 ours.txt
 *
 * With an identity key and the peer's fingerprint behind these arguments the connection is TLS 1.3.
 */
#include <foxtrot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    char *text;
    foxtrot_bytes *items;
    size_t n;
};

static int read_lines(const char *path, struct lines *lines) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            char *text = realloc(lines->text, room = 2 * room + 4096);
            if (text == NULL) break;
            lines->text = text;
        }
        size_t got = fread(lines->text + size, 1, room - size, file);
        if (got == 0) break;
        size += got;
    }
    int is_read = feof(file) && !ferror(file);
    fclose(file);
    if (!is_read) return 0;
    for (size_t at = 0, end; at < size; at = end + 1) {
        for (end = at; end < size && lines->text[end] != '\n'; end++) {}
        foxtrot_bytes *items = realloc(lines->items, (lines->n + 1) * sizeof *items);
        if (items == NULL) return 0;
        lines->items = items;
        items[lines->n].data = (const uint8_t *)lines->text + at;
        items[lines->n++].len = end - at;
    }
    return 1;
}

int main(int argc, char **argv) {
    if ((argc != 4 && argc != 6) || (strcmp(argv[1], "send") != 0 && strcmp(argv[1], "receive") != 0)) {
        fprintf(stderr, "usage: psi send|receive HOST:PORT FILE [IDENTITY FINGERPRINT]\n");
        return FOXTROT_CALLER;
    }
    struct lines lines = {NULL, NULL, 0};
    if (!read_lines(argv[3], &lines)) {
        fprintf(stderr, "cannot read %s\n", argv[3]);
        return FOXTROT_CALLER;
    }
    foxtrot_identity *identity = NULL;
    foxtrot_config *config = NULL;
    foxtrot_peer *peer = NULL;
    foxtrot_error error;
    uint8_t *mask = calloc(lines.n + 1, 1);
    size_t common = 0;

    foxtrot_status status;
    if (argc == 6) {
        const char *peers[] = {argv[5]};
        status = foxtrot_identity_read(argv[4], &identity, &error);
        if (status == FOXTROT_OK) status = foxtrot_config_tls(identity, peers, 1, &config, &error);
    } else {
        status = foxtrot_config_insecure(&config, &error);
    }
    if (status == FOXTROT_OK) status = foxtrot_connect(config, argv[2], &peer, &error);
    if (status == FOXTROT_OK) {
        if (strcmp(argv[1], "send") == 0) {
            status = foxtrot_psi_send(peer, lines.items, lines.n, NULL, &error);
        } else {
            status = foxtrot_psi_receive(peer, lines.items, lines.n, NULL, mask, &common, &error);
        }
    }
    if (status == FOXTROT_OK) status = foxtrot_peer_close(peer, &error);

    if (status != FOXTROT_OK) {
        fprintf(stderr, "error: %s\n", error.message);
    } else {
        for (size_t i = 0; i < lines.n; i++) {
            if (mask[i]) printf("%.*s\n", (int)lines.items[i].len, (const char *)lines.items[i].data);
        }
    }
    foxtrot_peer_free(peer);
    foxtrot_config_free(config);
    foxtrot_identity_free(identity);
    free(mask);
    free(lines.items);
    free(lines.text);
    return status;
}
