int return;
